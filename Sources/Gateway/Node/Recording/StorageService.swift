import ControlPlane
import GatewayMetrics
import ObjectStorage
import Settings

/// The buckets of the configuration file, and the thread that writes to them.
final class StorageService: NodeService {
    let uploads: Uploads

    init(_ configuration: StagedoorConfiguration, metrics: MetricsRegistry) throws {
        uploads = try Uploads(configuration.storage, metrics: UploadMetrics(metrics))
    }

    func apply(_ configuration: StagedoorConfiguration) { uploads.apply(configuration.storage) }

    func stop() { uploads.stop() }

    /// For CreateStorageConfiguration.
    var trial: BucketTrial {
        { [uploads] bucket, reply in
            guard uploads.knows(bucket) else { return reply(.unknown) }
            uploads.tryOut(bucket) { fault in
                reply(fault.map { .unwritable("\($0.words).") } ?? .writable)
            }
        }
    }
}
