import EventLoop
import RTMPIngest
import Settings
import Sockets
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
    ) throws {
        let threads = configuration.transcoding.threads > 0 ? configuration.transcoding.threads : CPUAllowance.granted
        transcoding = try TranscodingPool(threadCount: threads)
        var environment = RTMPIngestEnvironment(
            settings: configuration.rtmp, limits: configuration.limits, trustedProxies: configuration.trustedProxies,
            authorizer: admission.authorizer, leases: membership.leases, reports: membership.leases, metrics: instruments.metrics,
            trust: admission.trust)
        environment.board = records.board
        (self.environment, shares) = (environment, ConnectionShares(workerCount: workerCount))
        opus = configuration.transcoding
    }
}
