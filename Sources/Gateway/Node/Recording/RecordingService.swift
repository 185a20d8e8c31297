import DataDirectory
import GatewayMetrics
import Recording
import Settings
import Transcoding

/// The recorder among the node's services: started before the workers that feed it, ended after them.
final class RecordingService: NodeService {
    let recordings: Recordings

    init(
        _ configuration: StagedoorConfiguration, directory: borrowing DataDirectory, director: StageDirector,
        metrics: MetricsRegistry, transcoding: TranscodingPool
    ) throws {
        recordings = try Recordings(
            spool: directory.path + "/spool", maximumByteCount: configuration.recording.spool.bytes, director: director,
            metrics: metrics, transcoding: configuration.recording.audio == .aac ? transcoding : nil)
    }

    func stop() { recordings.stop() }
}
