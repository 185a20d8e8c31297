import EventLoop
import GatewayMetrics
import HTTP
import TestSupport
import Testing

@testable import ObjectStorage

/// What operators' alerts about buckets stand on.
@Suite("Metrics of uploads", .timeLimit(.minutes(10)))
struct UploadMetricsTests {
    private let registry = MetricsRegistry()

    private func gauge(_ name: String) -> Double { registry.gauge("stagedoor_" + name, "Made before.").value }

    private func count(_ result: String) -> Int {
        registry.counter("stagedoor_uploads_total", "Made before.", ["result": result]).value
    }

    @Test func `what waits is counted, until nothing does`() throws {
        let (store, endings) = (try StoreUnderTest(), UploadsTests.Endings())
        let uploads = try Uploads(["recordings": store.settings()], metrics: UploadMetrics(registry))
        // More than there are tries before the store is well again.
        store.content.withLock { $0.answers = Array(repeating: HTTPResponse(503), count: 1_000) }
        uploads.add(endings.upload(UploadsTests.object("a", "first")))
        #expect(waitUntil { gauge("uploads_waiting") == 1 })
        uploads.add(endings.upload(UploadsTests.object("b", "second")))
        #expect(waitUntil { gauge("uploads_waiting") == 2 })
        #expect(count("stored") == 0)
        store.content.withLock { $0.answers = [] }
        _ = endings.wait(for: 2)
        #expect(waitUntil { gauge("uploads_waiting") == 0 })
        #expect(count("stored") == 2 && count("failed") == 0)
    }

    @Test func `what a bucket refuses has failed, and waits no longer`() throws {
        let (store, endings) = (try StoreUnderTest(), UploadsTests.Endings())
        let uploads = try Uploads(["recordings": store.settings()], metrics: UploadMetrics(registry))
        store.answers(HTTPResponse(403, body: S3AnswerTests.error("AccessDenied", "Not yours")))
        uploads.add(endings.upload(UploadsTests.object("a", "first")))
        _ = endings.wait(for: 1)
        #expect(count("stored") == 0 && count("failed") == 1)
        #expect(waitUntil { gauge("uploads_waiting") == 0 })
    }
}
