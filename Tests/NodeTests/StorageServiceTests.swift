import ControlPlane
import EventLoop
import GatewayMetrics
import ObjectStorage
import Settings
import TestSupport
import Testing

@testable import Node

@Suite("Buckets of a node")
struct StorageServiceTests {
    @Test func `everybody's folder is a bucket that no stage may name, and stays what it was at the start`() throws {
        let folder = try TemporaryDirectory()
        var configuration = StagedoorConfiguration()
        configuration.recording.directory = folder.path + "/everybody"
        let service = try StorageService(configuration, metrics: MetricsRegistry())
        defer { service.stop() }
        configuration.recording.directory = ""
        configuration.storage["archive"] = StorageSettings(directory: folder.path + "/archive")
        service.apply(configuration)
        #expect(service.uploads.knows(StorageService.bucketOfEverybody) && service.uploads.knows("archive"))
        let verdict = Lock<BucketVerdict?>(nil)
        service.trial(StorageService.bucketOfEverybody) { answer in verdict.withLock { $0 = answer } }
        guard case .unknown? = verdict.withLock({ $0 }) else {
            Issue.record("it was tried out")
            return
        }
    }
}
