import Admission
import Refusals
import StageHub
import Testing

@testable import Monitoring

@Suite("Session sampler")
struct SessionSamplerTests {
    @Test func `what came in is counted by protocol and kind, to the last byte`() throws {
        let bench = try MonitoringBench()
        let publication = try bench.publish(by: .rtmps)
        bench.second { publication.counters[.video].count(byteCount: 700, endsFrame: true) }
        publication.counters[.video].count(byteCount: 50, endsFrame: true)
        publication.end(.closed)
        bench.second {}
        #expect(bench.exposition.contains(#"stagedoor_rx_bytes_total{kind="video",protocol="rtmps"} 750"#))
        #expect(bench.exposition.contains(#"stagedoor_rx_frames_total{kind="video",protocol="rtmps"} 2"#))
    }

    /// As when a node drains, or a router's death ends all of a stage: more than the board keeps.
    @Test func `nobody's media is left out when more end in a second than are kept`() throws {
        let bench = try MonitoringBench()
        let count = SessionBoard.maximumEnded + 44
        let publications = try (0..<count).map { try bench.publish("p\($0)", by: .rtmp) }
        bench.second { for publication in publications { publication.counters[.audio].count(byteCount: 10, endsFrame: true) } }
        for publication in publications {
            publication.counters[.audio].count(byteCount: 1, endsFrame: true)
            publication.end(.shutdown)
        }
        bench.second {}
        #expect(bench.exposition.contains(#"stagedoor_rx_bytes_total{kind="audio",protocol="rtmp"} \#(count * 11)"#))
        bench.second {}
        #expect(bench.exposition.contains(#"stagedoor_rx_frames_total{kind="audio",protocol="rtmp"} \#(count * 2)"#))
    }
}
