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
}
