/// Where a cluster's nodes may be asked: those that were configured, and those that are there now.
final class KnownNodes {
    private let seeds: [RedisEndpoint]
    var learned: [RedisEndpoint] = []

    init(seeds: [RedisEndpoint]) { self.seeds = seeds }

    var all: [RedisEndpoint] { learned + seeds.filter { !learned.contains($0) } }
}
