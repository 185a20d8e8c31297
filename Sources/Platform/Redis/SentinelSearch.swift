import EventLoop

/// Asks all sentinels at once where the primary is, and believes the many.
final class SentinelSearch: AddressSearch {
    private let loop: EventLoop
    private let primary: String
    /// With the sentinels' credential.
    private let settings: RedisSettings
    private let lookup: HostLookup
    private let sentinels: EndpointSearch
    private var queries: [SentinelQuery] = []
    private var fault: RedisFault?
    private var round = 0

    init(loop: EventLoop, _ sentinels: Sentinels, settings: RedisSettings, lookup: HostLookup) {
        (self.loop, self.lookup, primary) = (loop, lookup, sentinels.primary)
        self.settings = sentinels.settings(from: settings)
        self.sentinels = EndpointSearch(sentinels.endpoints, lookup: lookup)
    }

    func search(_ found: @escaping (Result<[ServerCandidate], RedisFault>) -> Void) {
        round += 1
        let current = round
        (queries, fault) = ([], nil)
        sentinels.search { [weak self] result in
            guard let self, round == current else { return }
            switch result {
            case .failure(let fault): found(.failure(fault))
            case .success(let sentinels): ask(sentinels, found)
            }
        }
    }

    private func ask(_ sentinels: [ServerCandidate], _ found: @escaping (Result<[ServerCandidate], RedisFault>) -> Void) {
        var votes = SentinelVotes(sentinelCount: sentinels.count)
        var isDecided = false
        let count = { [weak self] (vote: Result<RedisEndpoint?, RedisFault>) in
            guard let self, !isDecided else { return }
            if case .failure(let fault) = vote { self.fault = fault }
            guard let endpoints = votes.add((try? vote.get()) ?? nil) else { return }
            isDecided = true
            queries = []
            decided(endpoints, found)
        }
        for sentinel in sentinels {
            do {
                queries.append(try SentinelQuery(loop: loop, sentinel, primary: primary, settings: settings, count))
            } catch {
                count(.failure(error))
            }
        }
    }

    private func decided(_ endpoints: [RedisEndpoint], _ found: @escaping (Result<[ServerCandidate], RedisFault>) -> Void) {
        if endpoints.isEmpty { return found(.failure(fault ?? .notFound("\(primary) at the sentinels"))) }
        // Sentinels may name hosts too (announce-hostnames).
        EndpointSearch(endpoints, lookup: lookup).search(found)
    }
}
