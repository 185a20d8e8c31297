import Admission
import ClientConfiguration
import DataDirectory
import GatewayMetrics
import Monitoring
import OpenSSL
import RedundantIngest
import Replication
import RouterForwarding
import Settings
import SharedPort
import Sockets
import Store
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
    let predecessorRequests = PredecessorRequests()

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
    convenience init(_ limits: LimitSettings, maximumOpen: Int = .max, trust: AddressTrust) {
        self.init(
            maximumOpen: maximumOpen, maximumCount: limits.unauthenticatedConnections,
            maximumPerAddress: limits.connectionsPerAddress, trust: trust)
    }
}
