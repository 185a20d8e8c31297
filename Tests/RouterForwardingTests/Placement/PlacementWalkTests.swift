import Testing

@testable import RouterForwarding

@Suite("Random walks of the placement machine")
struct PlacementWalkTests {
    /// Nothing is announced twice or left behind, generations rise, leases name what is held, every start has its end.
    @Test(arguments: [1, 2]) func `no rule is broken, in whatever order things happen`(replicas: Int) {
        var counts: [String: Int] = [:]
        for seed: UInt64 in 0..<150 {
            var walk = PlacementWalk(seed: seed, replicas: replicas)
            walk.run(steps: 400)
            #expect(walk.violations.isEmpty, "seed \(seed)")
            counts.merge(walk.counts, uniquingKeysWith: +)
        }
        // The walks go where something can break.
        for what in ["publish", "takeover", "end", "announced", "refused", "withdrawn", "crash", "died"] {
            #expect(counts[what, default: 0] > 100, "\(what): \(counts)")
        }
    }
}
