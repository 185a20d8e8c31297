import Admission
import Cluster
import ControlPlane
import DataDirectory
import EmbeddedRouter
import EventLoop
import GatewayConfiguration
import GatewayMetrics
import HTTPServer
import MediaContract
import Monitoring
import OpenSSL
import RTMPIngest
import RouterForwarding
import Sockets
import Store
import Transcoding
import WHIPIngest
import WebRTCTransport
import Wire

/// What all threads of the node share.
struct NodeServices: Sendable {
    let configuration: StagedoorConfiguration
    let metrics: MetricsRegistry
    let gate: AdmissionGate
    /// The gate, with what it decides counted: whom encoders' credentials are shown to.
    let authorizer: any Authorizer
    /// Where another authority is asked; nil without `authorize.url`.
    let hooked: HookedAuthorizer?
    let store: any PlatformStore
    /// Nil on a node of a cluster, whose place no other process takes: it is drained.
    let alone: EmbeddedPlatform?
    /// What such a node shares with the others.
    let cluster: ClusterPlatform?
    let authority: TokenAuthority
    let leases: any LeaseControl
    let tokens: TokenVerifier
    let transcoding: TranscodingPool
    let tls: TLSContext
    let rtmp: RTMPIngestEnvironment
    let rtmpShares: ConnectionShares
    let staticRouters: [StaticRouter]
    let contract: ContractDesk
    let contractWarnings: ContractWarnings
    /// Nil when there is no media port: then WHIP and WHEP are off.
    let transport: TransportPlane?
    let whip: WHIPPlane?
    /// Nil when no router has that driver.
    let embedded: EmbeddedRouterPlane?
    let heartbeats = Heartbeats()
    let foreignRequests = ForeignRequests()
    let lag = GreatestLag()
    let trust = AddressTrust()
    let sessions: SessionGauges
    /// Who publishes, who did, who was refused: for the console, the API and the log.
    let board: SessionBoard
    /// Who is live on which stage, for those who watch.
    let stages = StageBoard()
    let routerMetrics: RouterMetrics
    let outOfReach: StagesOutOfReach
    /// Where workers tell of publications for routers that are asked; nil without such routers.
    var forwarding: MailboxSender<ForwardingEvent>?

    init(
        _ configuration: StagedoorConfiguration, listeners: Listeners, workerCount: Int, store: NodeStore,
        directory: borrowing DataDirectory, certificates: ServerCertificates, generation: UInt8,
        sessionKey: Secret
    ) throws {
        self.configuration = configuration
        metrics = MetricsRegistry()
        ProcessMetrics.register(in: metrics, version: Version.current)
        (self.store, authority) = (store.store, store.authority)
        let (leases, alone, cluster) = Self.makeLeases(configuration, store)
        (self.leases, self.alone, self.cluster) = (leases, alone, cluster)
        var limits = TokenVerifier.Limits()
        (limits.threads, limits.failuresPerMinute) = (configuration.workers.verifiers, configuration.limits.failuresPerMinute)
        tokens = try TokenVerifier(store: store.store, authority: store.authority, rules: store.rules, limits: limits)
        let authorizer = StoreAuthorizer(store: store.store, reports: leases, tokens: tokens.authorizer(reports: leases))
        hooked = configuration.authorize.url.isEmpty ? nil : HookedAuthorizer(behind: authorizer)
        let judge: any Authorizer = if let hooked { hooked } else { authorizer }
        let outOfReach = StagesOutOfReach(store: store.store, replicas: configuration.forwarding.replicas)
        self.outOfReach = outOfReach
        gate = AdmissionGate(before: judge) { outOfReach.contains($0) }
        gate.requireTLS(configuration.rtmp.requiresTLS)
        if configuration.overload.maximumPublishers > 0 { gate.limitPublishes(to: configuration.overload.maximumPublishers) }
        let threads = configuration.transcoding.threads > 0 ? configuration.transcoding.threads : CPUAllowance.granted
        transcoding = try TranscodingPool(threadCount: threads)
        tls = try certificates.makeContext(configuration.tls)
        board = SessionBoard(metrics: metrics)
        let metered = MeteredAuthorizer(gate, metrics: metrics)
        self.authorizer = metered
        var rtmp = RTMPIngestEnvironment(
            settings: RTMPIngestSettings(configuration), authorizer: metered, leases: leases, reports: leases, metrics: metrics,
            trust: trust)
        rtmp.board = board
        self.rtmp = rtmp
        rtmpShares = ConnectionShares(workerCount: workerCount)
        staticRouters = try StaticRouters.make(configuration, directory: directory)
        routerMetrics = RouterMetrics(metrics, routers: configuration.routers.keys.sorted())
        contract = ContractDesk(rules: ContractRules(configuration.contract))
        contractWarnings = ContractWarnings(metrics)
        sessions = SessionGauges(metrics)
        let (board, metrics) = (board, metrics)
        transport = try listeners.media.first.map { socket in
            var settings = try TransportConfiguration(configuration, media: socket.localAddress)
            (settings.node, settings.generation, settings.sessionKey) = (store.node, generation, sessionKey)
            return try TransportPlane(configuration: settings, workerCount: workerCount, metrics: TransportMetrics(metrics))
        }
        whip = transport.map { transport in
            WHIPPlane(
                transport: transport, leases: leases, reports: leases, board: board, metrics: WHIPMetrics(metrics))
        }
        if let whip { SessionGauges.watchPending(metrics) { [directory = whip.directory] in directory.pendingCount } }
        embedded = Self.makeEmbeddedRouter(
            configuration, transport, authorizer: tokens, workerCount: workerCount, metrics: metrics)
    }

    /// The leases of this node alone, or its part in those of a platform.
    private static func makeLeases(
        _ configuration: StagedoorConfiguration, _ store: NodeStore
    ) -> (any LeaseControl, EmbeddedPlatform?, ClusterPlatform?) {
        switch store.kind {
        case .embedded(let embedded):
            var quotas = EmbeddedLeases.Limits()
            (quotas.publishersPerStage, quotas.publishers) =
                (configuration.quotas.publishersPerStage, configuration.quotas.publishers)
            let leases = EmbeddedLeases(store: embedded, limits: quotas)
            return (leases, EmbeddedPlatform(store: embedded, leases: leases), nil)
        case .shared(let shared, let redis):
            let leases = ClusterLeases(
                settings: Cluster.ClusterSettings(configuration, node: store.node),
                platform: ClusterLeases.Platform(store: shared, names: store.names))
            store.onChange.withLock { $0 = { leases.stateChanged() } }
            return (leases, nil, ClusterPlatform(store: shared, leases: leases, redis: redis))
        }
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
