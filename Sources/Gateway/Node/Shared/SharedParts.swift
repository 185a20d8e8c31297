import Admission
import ClientConfiguration
import DataDirectory
import EmbeddedRouter
import EventLoop
import GatewayMetrics
import HTTPServer
import Monitoring
import OpenSSL
import RTMPIngest
import RedundantIngest
import Replication
import RouterForwarding
import Settings
import SharedPort
import Sockets
import Store
import Transcoding
import Wire

/// What exists once in a node and several threads use, in groups: a service takes the groups that it needs.
struct SharedParts: Sendable {
    let process: ProcessIdentity
    let instruments = Instruments()
    let admission: SharedAdmission
    let contract: SharedContract
    let replications: ReplicationBook
    let setup: StageSetup
    /// Nil where nobody can publish by RTMP.
    let clientConfiguration: ClientConfigurationContext?
    let records: SharedRecords
    let tls: TLSContext
    let rtmp: SharedRTMP
    let sharedPort: SharedPortEnvironment
    let webRTC: SharedWebRTC
    let redundancy: RedundancyDesk
    let staticRouters: [StaticRouter]
    let routerMetrics: RouterMetrics
    let foreignRequests = ForeignRequests()

    init(
        _ configuration: StagedoorConfiguration, _ process: ProcessIdentity, listeners: Listeners, store: NodeStore,
        directory: borrowing DataDirectory, certificates: ServerCertificates
    ) throws {
        self.process = process
        let metrics = instruments.metrics
        LocalHistory.register(store.membership.outbox, in: metrics)
        admission = try SharedAdmission(configuration, store, metrics: metrics)
        contract = SharedContract(configuration.contract, metrics: metrics)
        replications = ReplicationBook(store: store.membership.store, leases: store.membership.leases)
        store.observers.add(replications.stateChanged)
        setup = StageSetup(
            store: store.membership.store, endpoints: store.endpoints, gate: admission.gate, contract: contract.context)
        records = SharedRecords(metrics)
        clientConfiguration =
            setup.isServed
            ? ClientConfigurationContext(
                setup: setup, authorizer: admission.authorizer, leases: store.membership.leases, board: records.board,
                metrics: metrics) : nil
        rtmp = try SharedRTMP(
            configuration, workerCount: process.workerCount, admission: admission, membership: store.membership, records: records,
            instruments: instruments)
        redundancy = RedundancyDesk(
            leases: store.membership.leases, reports: store.membership.leases, board: records.board,
            workerCount: process.workerCount, metrics: metrics)
        sharedPort = SharedPortEnvironment(configuration, trust: admission.trust, metrics: metrics)
        tls = try certificates.makeContext(configuration.tls)
        staticRouters = try StaticRouters.make(configuration, directory: directory)
        routerMetrics = RouterMetrics(metrics, routers: configuration.routers.keys.sorted())
        webRTC = try SharedWebRTC(
            configuration, process, media: listeners.media.first, shared: listeners.sharedAddress(configuration.advertise),
            store: store, admission: admission, records: records, metrics: metrics)
    }
}

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
        let threadCount = configuration.transcoding.threadCount(processors: CPUAllowance.granted)
        let transcoding = try TranscodingPool(threadCount: threadCount)
        self.transcoding = transcoding
        instruments.metrics.reading(
            "stagedoor_transcoding_dropped_frames_total",
            "Frames of sound not transcoded: a thread was half a second behind, or they came faster than sound."
        ) { Double(transcoding.droppedFrameCount) }
        var environment = RTMPIngestEnvironment(
            settings: configuration.rtmp, limits: configuration.limits, trustedProxies: configuration.trustedProxies,
            authorizer: admission.authorizer, leases: membership.leases, reports: membership.leases, metrics: instruments.metrics,
            trust: admission.trust)
        environment.board = records.board
        (self.environment, shares) = (environment, ConnectionShares(workerCount: workerCount))
        opus = configuration.transcoding
    }
}

extension SharedPortEnvironment {
    init(_ configuration: StagedoorConfiguration, trust: AddressTrust, metrics: MetricsRegistry) {
        self.init(
            trustedProxies: configuration.trustedProxies,
            admission: ConnectionAdmission(configuration.limits, trust: trust),
            patience: configuration.tls.handshakeTimeout + configuration.listen.patience, metrics: SharedPortMetrics(metrics))
    }
}

extension ConnectionAdmission {
    /// Of those that come in by one way and have shown nothing of themselves yet.
    convenience init(_ limits: LimitSettings, trust: AddressTrust) {
        self.init(
            maximumCount: limits.unauthenticatedConnections, maximumPerAddress: limits.connectionsPerAddress, trust: trust)
    }
}

/// Who publishes, by what is asked: for every thread.
struct SharedRecords: Sendable {
    /// Who publishes, who did, who was refused: for the console, the API and the log.
    let board: SessionBoard
    /// Who is live on which stage, for those who watch.
    let stages = StageBoard()
    let gauges: SessionGauges

    init(_ metrics: MetricsRegistry) { (board, gauges) = (SessionBoard(metrics: metrics), SessionGauges(metrics)) }
}

/// Sessions by the protocol they came in by: live publishes, and WHIP sessions on their way to one.
struct SessionGauges: Sendable {
    private let rtmp: Gauge
    private let rtmps: Gauge
    private let whip: Gauge

    init(_ metrics: MetricsRegistry) {
        func gauge(_ ingest: IngestProtocol) -> Gauge {
            metrics.gauge(Self.name, Self.help, ["protocol": ingest.rawValue.lowercased(), "state": "live"])
        }
        (rtmp, rtmps, whip) = (gauge(.rtmp), gauge(.rtmps), gauge(.whip))
    }

    /// - Parameter count: WHIP sessions that are answered and not yet connected.
    static func watchPending(_ metrics: MetricsRegistry, _ count: @escaping @Sendable () -> Int) {
        metrics.reading(name, help, ["protocol": "whip", "state": "pending"]) { Double(count()) }
    }

    private static let name = "stagedoor_sessions"
    private static let help = "Live publishes, and WHIP sessions that are not yet connected."

    subscript(_ ingest: IngestProtocol) -> Gauge {
        switch ingest {
        case .rtmp: rtmp
        case .rtmps: rtmps
        case .whip: whip
        }
    }
}

/// What every loop of the node is measured by.
struct Instruments: Sendable {
    let metrics = MetricsRegistry()
    let loops = LoopHealth()
    let lag = GreatestLag()

    init() { ProcessMetrics.register(in: metrics, version: Version.current) }

    /// Notices when a loop is stuck, and how late it turns as long as what this returns is kept.
    func watch(_ loop: EventLoop, name: String) -> LoopMetrics {
        loops.join(loop, name: name)
        return LoopMetrics(loop, name: name, in: metrics, lag: lag)
    }
}
