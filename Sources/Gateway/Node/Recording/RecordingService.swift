import DataDirectory
import GatewayMetrics
import Recording
import Settings

/// The recorder among the node's services: started before the workers that feed it, ended after them.
final class RecordingService: NodeService {
    let recordings: Recordings

    /// - Returns: nil where nothing can be recorded.
    init?(_ configuration: StagedoorConfiguration, directory: borrowing DataDirectory, metrics: MetricsRegistry) throws {
        guard !configuration.recording.directory.isEmpty else { return nil }
        recordings = try Recordings(
            spool: directory.path + "/spool", maximumByteCount: configuration.recording.spool.bytes,
            director: FolderDirector(path: configuration.recording.directory), metrics: metrics)
    }

    func stop() { recordings.stop() }
}

/// Records everybody into one folder (`recording.directory`).
struct FolderDirector: RecordingDirector {
    let path: String
    private static let bucket = "recording.directory"

    func plan(for participant: RecordedParticipant) -> RecordingPlan? { RecordingPlan(bucket: Self.bucket) }

    func target(of bucket: String) -> (any RecordingTarget)? { bucket == Self.bucket ? DirectoryTarget(path: path) : nil }

    func documents(of recording: RecordingSummary) -> [RecordedObject] { [] }

    func changed(_ recording: RecordingSummary) {}
}
