import ControlPlane
import GatewayMetrics
import ObjectStorage
import Settings

/// The buckets of the configuration file, and the threads that write to them.
final class StorageService: NodeService {
    let uploads: Uploads
    /// The folder that everybody is recorded into whose stage says nothing else, as it was at the start; empty: nobody is.
    private let folderOfEverybody: String

    init(_ configuration: StagedoorConfiguration, metrics: MetricsRegistry) throws {
        folderOfEverybody = configuration.recording.directory
        uploads = try Uploads(
            Self.buckets(configuration.storage, folderOfEverybody), metrics: UploadMetrics(metrics))
    }

    func apply(_ configuration: StagedoorConfiguration) {
        uploads.apply(Self.buckets(configuration.storage, folderOfEverybody))
    }

    private static func buckets(
        _ storage: [String: StorageSettings], _ folderOfEverybody: String
    ) -> [String: StorageSettings] {
        var buckets = storage
        if !folderOfEverybody.isEmpty { buckets[bucketOfEverybody] = StorageSettings(directory: folderOfEverybody) }
        return buckets
    }

    func stop() { uploads.stop() }

    /// For CreateStorageConfiguration.
    var trial: BucketTrial {
        { [uploads] bucket, reply in
            // No stage names the folder of everybody.
            guard bucket != StorageService.bucketOfEverybody, uploads.knows(bucket) else { return reply(.unknown) }
            uploads.tryOut(bucket) { fault in
                reply(fault.map { .unwritable("\($0.words).") } ?? .writable)
            }
        }
    }

    /// What the one for everybody is called, beside the buckets of the configuration file.
    static let bucketOfEverybody = "recording.directory"
}
