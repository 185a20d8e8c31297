import EmbeddedRouter
import EventLoop
import GatewayMetrics
import Settings
import Sockets
import WHIPIngest
import WebRTCTransport
import Wire

/// What of WebRTC every worker has a part of: the media port's peers, WHIP's publishers, and the embedded router's subscribers.
struct SharedWebRTC: Sendable {
    /// Nil when there is no media port: then WHIP and WHEP are off.
    let transport: TransportPlane?
    let whip: WHIPPlane?
    /// Nil when no router has that driver.
    let embedded: EmbeddedRouterPlane?

    /// - Parameters:
    ///   - media: the bound media port.
    ///   - generation: of this process's sessions, by which datagrams of another process's are told apart.
    init(
        _ configuration: StagedoorConfiguration, media: BoundSocket?, generation: UInt8, sessionKey: Secret, workerCount: Int,
        store: NodeStore, admission: SharedAdmission, records: SharedRecords, metrics: MetricsRegistry
    ) throws {
        transport = try media.map { socket in
            var settings = try TransportConfiguration(configuration, media: socket.localAddress)
            (settings.node, settings.generation, settings.sessionKey) = (store.node, generation, sessionKey)
            return try TransportPlane(configuration: settings, workerCount: workerCount, metrics: TransportMetrics(metrics))
        }
        let leases = store.membership.leases
        whip = transport.map {
            WHIPPlane(transport: $0, leases: leases, reports: leases, board: records.board, metrics: WHIPMetrics(metrics))
        }
        if let whip { SessionGauges.watchPending(metrics) { [directory = whip.directory] in directory.pendingCount } }
        embedded = Self.makeEmbeddedRouter(
            configuration, transport, authorizer: admission.tokens, workerCount: workerCount, metrics: metrics)
    }

    /// WHIP sessions that are answered and not connected yet.
    var pendingCount: Int { whip?.directory.pendingCount ?? 0 }
}
