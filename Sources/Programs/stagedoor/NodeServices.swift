import Admission
import DataDirectory
import EventLoop
import GatewayConfiguration
import GatewayMetrics
import OpenSSL
import RTMPIngest
import RouterForwarding
import Store
import Transcoding
import Wire

/// What all threads of the node share.
struct NodeServices: Sendable {
    let configuration: StagedoorConfiguration
    let metrics: MetricsRegistry
    let gate: AdmissionGate
    let leases: EmbeddedLeases
    let transcoding: TranscodingPool
    let tls: TLSContext
    let rtmp: RTMPIngestEnvironment
    let staticRouters: [StaticRouter]

    init(
        _ configuration: StagedoorConfiguration, store: NodeStore, directory: borrowing DataDirectory,
        certificates: ServerCertificates
    ) throws {
        self.configuration = configuration
        metrics = MetricsRegistry()
        ProcessMetrics.register(in: metrics, version: Version.current)
        leases = EmbeddedLeases(store: store.store)
        gate = AdmissionGate(before: try store.authorizer(leases: leases))
        if configuration.overload.maximumPublishers > 0 { gate.limitPublishes(to: configuration.overload.maximumPublishers) }
        let threads = configuration.transcoding.threads > 0 ? configuration.transcoding.threads : CPUAllowance.granted
        transcoding = try TranscodingPool(threadCount: threads)
        tls = try TLSContext(server: certificates.identity)
        rtmp = RTMPIngestEnvironment(
            settings: RTMPIngestSettings(configuration), authorizer: gate, leases: leases, reports: leases, metrics: metrics)
        staticRouters = try StaticRouters.make(configuration, directory: directory)
    }

    var opusSettings: OpusSettings {
        var settings = OpusSettings()
        settings.stereoBitsPerSecond = configuration.transcoding.stereoBitrate
        settings.monoBitsPerSecond = configuration.transcoding.monoBitrate
        settings.complexity = configuration.transcoding.complexity
        return settings
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
