import EventLoop
import GatewayConfiguration
import RTMPIngest
import Sockets
import Transcoding

/// RTMP's part of every worker, and the threads that turn its audio into Opus.
struct SharedRTMP: Sendable {
    let environment: RTMPIngestEnvironment
    let shares: ConnectionShares
    let transcoding: TranscodingPool
    let opus: OpusSettings

    /// - Throws: when the threads cannot be had.
    init(
        _ configuration: StagedoorConfiguration, workerCount: Int, admission: SharedAdmission, membership: Membership,
        records: SharedRecords, instruments: Instruments
    ) throws {
        let threads = configuration.transcoding.threads > 0 ? configuration.transcoding.threads : CPUAllowance.granted
        transcoding = try TranscodingPool(threadCount: threads)
        var environment = RTMPIngestEnvironment(
            settings: RTMPIngestSettings(configuration), authorizer: admission.authorizer, leases: membership.leases,
            reports: membership.leases, metrics: instruments.metrics, trust: admission.trust)
        environment.board = records.board
        (self.environment, shares) = (environment, ConnectionShares(workerCount: workerCount))
        opus = OpusSettings(configuration.transcoding)
    }
}

extension OpusSettings {
    init(_ settings: TranscodingSettings) {
        self.init()
        (stereoBitsPerSecond, monoBitsPerSecond) = (settings.stereoBitrate, settings.monoBitrate)
        complexity = settings.complexity
    }
}

extension RTMPIngestSettings {
    init(_ configuration: StagedoorConfiguration) {
        self.init()
        handshakeTimeout = configuration.rtmp.handshakeTimeout
        publishTimeout = configuration.rtmp.publishTimeout
        silenceTimeout = configuration.rtmp.idleTimeout
        trustedProxies = configuration.trustedProxies
        maximumUnauthenticatedConnections = configuration.limits.unauthenticatedConnections
        maximumUnauthenticatedPerAddress = configuration.limits.connectionsPerAddress
    }
}
