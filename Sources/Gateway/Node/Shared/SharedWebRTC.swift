import Admission
import EmbeddedRouter
import EventLoop
import GatewayMetrics
import Settings
import Sockets
import Store
import WHIPIngest
import WebRTCTransport
import Wire

/// The WebRTC that workers share: the media port's peers, WHIP's publishers, and the embedded router's subscribers.
struct SharedWebRTC: Sendable {
    /// Nil when there is no media port: then WHIP and WHEP are off.
    let transport: TransportContext?
    let whip: WHIPContext?
    /// Nil when no router has that driver.
    let embedded: EmbeddedRouterContext?

    /// - Parameters:
    ///   - process: by whose generation its datagrams are told from those of another process.
    ///   - media: the bound media port.
    ///   - shared: the shared port as clients reach it.
    init(
        _ configuration: StagedoorConfiguration, _ process: ProcessIdentity, media: BoundSocket?, shared: SocketAddress?,
        store: NodeStore, admission: SharedAdmission, records: SharedRecords, metrics: MetricsRegistry
    ) throws {
        transport = try media.map { socket in
            var settings = try TransportConfiguration(configuration, media: socket.localAddress, shared: shared)
            (settings.node, settings.generation, settings.sessionKey) = (store.node, process.generation, process.sessionKey)
            return try TransportContext(
                configuration: settings, workerCount: process.workerCount, metrics: TransportMetrics(metrics),
                strangers: ConnectionAdmission(configuration.limits, trust: admission.trust))
        }
        let leases = store.membership.leases
        whip = transport.map {
            WHIPContext(
                transport: $0, authorizer: admission.authorizer, leases: leases, reports: leases, board: records.board,
                metrics: WHIPMetrics(metrics))
        }
        if let whip { SessionGauges.watchPending(metrics) { [directory = whip.directory] in directory.pendingCount } }
        embedded = Self.makeEmbeddedRouter(
            configuration, transport, authorizer: ViewerAuthorizer(tokens: admission.tokens, reports: leases), reports: leases,
            workerCount: process.workerCount, metrics: metrics)
    }
}

extension SharedWebRTC {
    /// The embedded router's shared part; nil when the configuration names no router with that driver, or there is no media port.
    private static func makeEmbeddedRouter(
        _ configuration: StagedoorConfiguration, _ transport: TransportContext?, authorizer: any SubscribeAuthorizer,
        reports: any ViewerReports, workerCount: Int, metrics: MetricsRegistry
    ) -> EmbeddedRouterContext? {
        guard let transport, configuration.routers.values.contains(where: { $0.driver == .embedded }) else { return nil }
        return EmbeddedRouterContext(
            settings: configuration.embedded, transport: transport, authorizer: authorizer, reports: reports,
            workerCount: workerCount, metrics: EmbeddedRouterMetrics(metrics))
    }
}

extension TransportConfiguration {
    /// - Parameters:
    ///   - media: the bound media port.
    ///   - shared: the shared port, which takes ICE-TCP too, as clients reach it.
    init(_ configuration: StagedoorConfiguration, media: SocketAddress, shared: SocketAddress?) throws {
        let settings = configuration.advertise
        func reached(_ ip: IPAddress, _ port: UInt16) throws -> [SocketAddress] {
            try AdvertisedAddresses.list(settings.addresses, bound: ip).map { SocketAddress($0, port: port) }
        }
        let addresses = try reached(media.ip, settings.mediaPort > 0 ? UInt16(settings.mediaPort) : media.port)
        let own = configuration.media.tcp ? addresses : []
        let further = try shared.map { try reached($0.ip, $0.port) } ?? []
        // A NAT may show both under one number.
        self.init(advertisedAddresses: addresses, tcpAddresses: own + further.filter { !own.contains($0) })
        (whip, receiveBuffer) = (configuration.whip, configuration.media.receiveBuffer.bytes)
    }
}
