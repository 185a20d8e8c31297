import Admission
import EventLoop
import GatewayMetrics
import RTMPIngest
import Settings
import Sockets
import Store
import Transcoding

/// RTMP's part of every worker, and the threads that turn its audio into Opus.
struct SharedRTMP: Sendable {
    let environment: RTMPIngestEnvironment
    let shares: ConnectionShares
    let transcoding: TranscodingPool
    let opus: TranscodingSettings

    /// - Throws: when the threads cannot be had.
    init(
        _ configuration: StagedoorConfiguration, workerCount: Int, admission: SharedAdmission, membership: Membership,
        records: SharedRecords, instruments: Instruments
    ) throws(SystemError) {
        let threadCount = configuration.transcoding.threadCount(processors: CPUAllowance.granted)
        let transcoding = try TranscodingPool(threadCount: threadCount)
        self.transcoding = transcoding
        instruments.metrics.reading(
            "stagedoor_transcoding_dropped_frames_total",
            "Frames of sound not transcoded: a thread was half a second behind, or they came faster than sound."
        ) { Double(transcoding.droppedFrameCount) }
        environment = RTMPIngestEnvironment(
            settings: configuration.rtmp,
            admission: ConnectionAdmission(
                configuration.limits, maximumOpen: configuration.rtmp.maximumConnections, trust: admission.trust),
            trustedProxies: configuration.trustedProxies, authorizer: admission.authorizer, leases: membership.leases,
            reports: membership.leases, board: records.board, metrics: instruments.metrics)
        (shares, opus) = (ConnectionShares(workerCount: workerCount), configuration.transcoding)
    }
}

/// Its threads end with the node: nothing works with libavcodec while the process exits.
extension TranscodingPool: NodeService {}
