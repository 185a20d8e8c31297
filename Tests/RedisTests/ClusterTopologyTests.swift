import EventLoop
import Testing

@testable import Redis

@Suite("Watching a cluster's slots")
struct ClusterTopologyTests {
    @Test func `whoever drops it has dropped its connection too`() throws {
        let loop = try EventLoop()
        let lookup = try HostLookup(loop: loop)
        weak var kept: Link?
        do {
            let link = Link(
                loop: loop, settings: RedisSettings(.cluster(seeds: [])), role: .clusterNode,
                search: EndpointSearch([], lookup: lookup), chance: { 0 })
            kept = link
            let topology = ClusterTopology(link: link)
            topology.close()
        }
        #expect(kept == nil)
    }
}
