import Admission
import ControlPlane
import DataDirectory
public import EventLoop
import Foundation
import GatewayLogging
import GatewayMetrics
import HTTPServer
import Handover
import MediaContract
import Monitoring
import OpenSSL
import Recording
import RedundantIngest
import Replication
import RouterForwarding
public import Settings
import Sockets
import Store
import WebRTCTransport
import Wire

/// One running gateway: the control loop on the main thread, and the services around it.
public final class Node {
    /// The control loop, on the thread that made the node.
    public let loop: EventLoop
    private let configuration: StagedoorConfiguration
    private let source: ConfigurationSource
    private let inheritance: Inheritance?
    private let directory: DataDirectory
    private let listeners: Listeners
    private let certificates: ServerCertificates
    private let store: NodeStore
    private let shared: SharedParts
    private let reservations: StaticReservations
    private var services = ServiceStack()
    private var drain: NodeDrain?
    private var reload: NodeReload?
    private var hook: AuthorizeHook?
    /// Nil for a node of a cluster.
    private var chain: ProcessChain?
    private var notifier: ServiceNotifier?
    private var replications: ReplicationKeeper?
    /// Nil where clients are told of fixed addresses, and without WebRTC.
    private var advertised: AdvertisedWatch?
    private let freedMemory: FreedMemory
    private let endpointsInUse: EndpointsInUse

    /// Opens what the services stand on: files, ports, keys. Nothing is read from a socket yet.
    /// - Parameter inheritance: what a running process hands over, when this one takes its place.
    public init(_ configuration: StagedoorConfiguration, source: ConfigurationSource, inheritance: Inheritance? = nil) throws {
        umask(0o077)
        (self.configuration, self.source, self.inheritance) = (configuration, source, inheritance)
        let path = configuration.store.directory
        directory = try inheritance?.openDirectory(at: path) ?? DataDirectory(at: path)
        let configuredCount = configuration.workers.count > 0 ? configuration.workers.count : CPUAllowance.granted
        let workerCount = inheritance?.succession.offer.workers ?? configuredCount
        let activated = try SocketActivation.take()
        listeners = try Listeners(configuration, workers: workerCount) { kind in
            inheritance?.sockets(kind) ?? GivenSockets(kind, activated[kind] ?? [], areBinding: true)
        }
        if let inheritance { try listeners.checkMedia(of: inheritance.succession.sockets) }
        try LogOutput.start(configuration.logging)
        loop = try EventLoop()
        freedMemory = FreedMemory(loop: loop)
        certificates = try ServerCertificates(configuration, directory: directory)
        let inventory = try inheritance?.succession.prepare()
        store = try NodeStore(
            configuration, endpoints: StageEndpoints(configuration, listeners: listeners), directory: directory,
            isQuickstart: source.isQuickstart, sparing: inventory?.living ?? [])
        endpointsInUse = EndpointsInUse(loop: loop, store: store.membership.store, endpoints: store.endpoints)
        let process = ProcessIdentity(
            generation: inheritance?.generation ?? 0,
            sessionKey: try SessionKey.load(configuration.cluster, inherited: inheritance?.succession.offer.sessionKey),
            workerCount: workerCount)
        if inheritance == nil { StaticRouters.forgetDescriptions(in: path) }
        shared = try SharedParts(
            configuration, process, listeners: listeners, store: store, directory: directory, certificates: certificates)
        reservations = StaticReservations(shared.staticRouters)
        reservations.adopt(inventory?.reservations ?? [])
        reservations.follow(store.membership.store.state)
    }

    /// Starts the services in this order. They end in the reverse order, and so do those that
    /// already run when one fails to start.
    public func start() throws {
        try services.start { services in
            // First in, last out: configuration, history and leases are written to until every other service has ended.
            services.add(store)
            // Verifies tokens, and ends after everybody who asks it to.
            services.add(shared.admission.tokens)
            // Transcodes sound for workers and recorder, and ends after both.
            services.add(shared.rtmp.transcoding)
            // Gives admission its limit of publishers at once; measures for the first time in a second.
            let load = makeLoadGuard()
            // Asks stage routers where media goes, before any comes.
            let routers = try makeRouters()
            // Tells the other nodes of us: from now on a publish here is a publish of the whole cluster.
            if case .member(let cluster) = store.membership { services.add(try makeClusterPart(cluster, load, routers)) }
            // Brings recordings into buckets, on a thread of its own.
            let storage = services.add(try StorageService(configuration, metrics: shared.instruments.metrics))
            // Writes segments, on a thread of its own, before any comes.
            let recorder = services.add(try makeRecorder(storage))
            // Serves encoders and viewers from here on; a process that takes another one's place does so only after `takePlace`.
            let workers = services.add(try startWorkers(routers, recorder))
            // Follows the addresses where clients reach us, which may change.
            advertised = try makeAdvertisedWatch()
            // Keeps replications whose publisher has gone, until it comes back or their time is over.
            replications = try ReplicationKeeper(loop: loop, book: shared.replications)
            // Delivers events to webhooks and readers.
            let events = services.add(try EventService(configuration, loop: loop, store: store))
            let drain = makeDrain(workers)
            // Samples publishers and viewers once a second, and writes the last minute's samples when it ends.
            let sampler = services.add(makeSampler())
            let report = makeReport(sampler, load, drain, routers)
            // Says on `/readyz` that we are ready, which is true as soon as the workers serve.
            let admin = services.add(try makeAdmin(events, report, sampler, drain, storage, recorder))
            // Puts a changed configuration file into force in everything above.
            reload = makeReload(
                ReloadedParts(
                    shared: shared, store: store, workers: workers, load: load, drain: drain, admin: admin, storage: storage))
            // Asks the other authority (`authorize.url`), where one is configured; it works on this loop, which turns in `serve`.
            hook = try makeHook()
            // Has the process whose place we take let go of it: everything that serves in its stead is there.
            chain = makeChain(workers, drain, routers)
            if let inheritance { try chain?.takePlace(inheritance) }
            // Tells the service manager, last that we are there and first that we go.
            if let notifier = ServiceNotifier(loop: loop) { self.notifier = services.add(notifier) }
            // Lets a further process take our place.
            try chain?.offerPlace(admin, events, notifier) { report.sessions }
        }
    }

    /// Serves until a drain that ends the process is over; returns when every session has ended and everything is written.
    public func serve() throws {
        if source.isQuickstart { try writeQuickstart() }
        Log.event(
            .info, "started",
            [
                "version": .string(Version.current), "workers": .integer(shared.process.workerCount),
                "listen": .strings(listeners.places),
                "libraries": .strings(LibraryVersions.inUse),
            ])
        StartupLog.sharedPort(listeners.shared, takesICE: shared.webRTC.transport != nil)
        StartupLog.warn(mediaSockets: listeners.media.count, workers: shared.process.workerCount)
        if !source.isQuickstart {
            StartupLog.warn(receiveBufferOf: listeners.media.first, wanted: configuration.media.receiveBuffer)
        }
        StartupLog.warn(configuration, isQuickstart: source.isQuickstart)
        StartupLog.warn(advertised: shared.webRTC.transport?.configuration.advertisedAddresses ?? [])
        notifier?.ready()
        loop.run()
        services.stop()
        chain?.tellRest()
        Log.event(.info, "stopped")
        Log.stop()
    }

    // MARK: - What signals ask for

    /// Drains, then returns from `serve`; asked again, returns at once.
    public func terminate() {
        chain?.terminate()
        drain?.terminate()
    }

    /// Reads configuration and certificates anew.
    public func reload(because reason: String) { reload?.reload(because: reason) }

    /// Has the program that is now on disk take our place.
    public func startSuccessor() {
        guard let chain else {
            return Log.event(.warning, "handover_refused", ["because": "a node of a cluster is drained: SIGTERM"])
        }
        chain.startSuccessor()
    }
}

// MARK: - What the services are made from

extension Node {
    private func makeLoadGuard() -> LoadGuard {
        let meter = LoadMeter(loop: loop, lag: shared.instruments.lag)
        return LoadGuard(
            loop: loop, gate: shared.admission.gate, metrics: shared.instruments.metrics, settings: configuration.overload,
            measure: meter.measure)
    }

    private func makeRouters() throws -> RouterService? {
        try RouterService(
            configuration, loop: loop, ownListeners: listeners.addresses,
            RouterService.Environment(
                membership: store.membership, gate: shared.admission.gate, outOfReach: shared.admission.outOfReach,
                metrics: shared.routerMetrics,
                isOnlyProcess: { [weak self] in self?.isOnlyProcess ?? false }),
            directory: directory)
    }

    /// Until the process before us is known to have ended, it has streams.
    private var isOnlyProcess: Bool { chain.map(\.isOnlyProcess) ?? (inheritance == nil) }

    private func makeClusterPart(_ cluster: ClusterContext, _ load: LoadGuard, _ routers: RouterService?) throws -> ClusterService
    {
        try ClusterService(
            loop: loop, cluster: cluster,
            addresses: ClusterService.Addresses(
                node: listeners.clusterURL(configuration), public: configuration.cluster.publicURL),
            metrics: shared.instruments.metrics,
            ClusterService.Reported(
                gate: shared.admission.gate, load: load, routers: routers?.control, embedded: shared.webRTC.embedded))
    }

    private func makeRecorder(_ storage: StorageService) throws -> RecordingService {
        let director = StageDirector(
            store: store.membership.store, names: store.names, uploads: storage.uploads,
            node: store.membership.node)
        return try RecordingService(
            configuration, directory: directory, director: director, metrics: shared.instruments.metrics,
            transcoding: shared.rtmp.transcoding)
    }

    private func startWorkers(_ routers: RouterService?, _ recorder: RecordingService) throws -> WorkerGroup {
        let workers = try WorkerGroup(loop: loop, count: shared.process.workerCount)
        let environment = WorkerEnvironment(
            configuration, shared, membership: store.membership, forwarding: routers?.control.sender,
            recordings: recorder.recordings)
        try workers.start(listeners, environment, areSuspended: inheritance != nil)
        return workers
    }

    private func makeAdvertisedWatch() throws -> AdvertisedWatch? {
        guard let transport = shared.webRTC.transport, let media = listeners.media.first?.localAddress,
            !configuration.advertise.hasFixedAddresses
        else { return nil }
        let further = listeners.sharedAddress(configuration.advertise)
        return try AdvertisedWatch(loop: loop, transport: transport) { [configuration] in
            try TransportConfiguration(configuration, media: media, shared: further)
        }
    }

    private func makeDrain(_ workers: WorkerGroup) -> NodeDrain {
        let drain = NodeDrain(loop: loop, gate: shared.admission.gate, workers: workers, settings: configuration.drain)
        self.drain = drain
        return drain
    }

    private func makeSampler() -> SessionSampler {
        SessionSampler(
            loop: loop, board: shared.records.board, metrics: shared.instruments.metrics, embedded: shared.webRTC.embedded,
            store: store.membership.store)
    }

    private func makeReport(
        _ sampler: SessionSampler, _ load: LoadGuard, _ drain: NodeDrain, _ routers: RouterService?
    ) -> OverviewReport {
        let board = shared.records.board
        return OverviewReport(
            sampler: sampler,
            OverviewReport.Environment(
                configuration: configuration, gate: shared.admission.gate, board: board, store: store.membership.store,
                contract: shared.contract.context, load: { load.report }, phase: { drain.phase },
                clusterFault: { [membership = store.membership] in membership.clusterFault },
                routers: { routers?.control.status ?? [] },
                urls: PublicURLs(store.endpoints, configuration, hasMedia: !listeners.media.isEmpty),
                redundant: { [redundancy = shared.redundancy] in redundancy.statuses },
                older: { [unowned self] in chain?.olderSessions ?? [] }))
    }

    private func makeAdmin(
        _ events: EventService, _ report: OverviewReport, _ sampler: SessionSampler, _ drain: NodeDrain,
        _ storage: StorageService, _ recorder: RecordingService
    ) throws -> AdminSite {
        let (gatewayStore, instruments) = (store.membership.store, shared.instruments)
        let readiness = ReadinessChecks(shared.admission.gate, store.membership, configuration.cluster)
        let revocations = Revocations(shared, store.membership)
        let api = try makeControlPlane(storage, revocations)
        return try AdminSite(
            loop: loop, socket: listeners.admin,
            AdminSite.Environment(
                metricsSettings: configuration.metrics,
                server: HTTPServerConfiguration(configuration.admin, trustedProxies: configuration.trustedProxies),
                counters: HTTPServerCounters(instruments.metrics, listener: "admin"),
                health: HealthEndpoints(
                    loops: instruments.loops, readiness: { readiness.all },
                    metrics: { instruments.metrics.exposition() }),
                api: api, events: events,
                operators: makeOperatorAPI(report, recorder),
                metrics: try MetricsDesk(
                    loop: loop, api: api, sampler: sampler, store: gatewayStore, names: store.names),
                files: try RecordedFiles(
                    loop: loop, store: gatewayStore, names: store.names, uploads: storage.uploads),
                drain: drain, loopMetrics: instruments.watch(loop, name: "control"), revocations: revocations.watch(on: loop),
                operated: { [reservations] in
                    reservations.follow(gatewayStore.state)
                    revocations.follow()
                }))
    }

    private func makeOperatorAPI(_ report: OverviewReport, _ recorder: RecordingService) -> OperatorAPI {
        OperatorAPI(
            whip: shared.webRTC.whip, descriptions: DescriptionFiles(directory: directory.path + "/sdp"), report: report,
            setup: shared.setup, redundancy: shared.redundancy, thumbnails: recorder.recordings.thumbnails)
    }

    private func makeControlPlane(_ storage: StorageService, _ revocations: Revocations) throws -> ControlPlane {
        var environment = ControlPlane.Environment(
            store: store.membership.store, leases: store.membership.leases, authority: store.authority)
        environment.observers = store.observers
        environment.isWatching = revocations.isWatching
        environment.tryBucket = storage.trial
        return try ControlPlane(loop: loop, settings: ControlPlaneSettings(configuration, store: store), environment)
    }

    private func makeReload(_ parts: ReloadedParts) -> NodeReload {
        NodeReload(
            loop: loop, source: source, running: configuration, certificates: certificates,
            metrics: shared.instruments.metrics, apply: parts.take)
    }

    private func makeHook() throws -> AuthorizeHook? {
        try shared.admission.hooked.map { authorizer in
            try AuthorizeHook(
                loop: loop, settings: configuration.authorize, failed: ServiceFaults.log("authorize_failed"),
                answering: authorizer)
        }
    }

    private func makeChain(_ workers: WorkerGroup, _ drain: NodeDrain, _ routers: RouterService?) -> ProcessChain? {
        guard case .alone(let embedded) = store.membership else { return nil }
        return ProcessChain(
            loop: loop,
            ProcessChain.Environment(
                embedded: embedded, shared: shared, listeners: listeners, placements: routers?.localPlacements,
                workers: workers, drain: drain, directory: directory.path,
                duplicateLock: { [unowned self] in directory.duplicateLock() },
                tellHolder: { [unowned self] in try directory.tellHolder() }))
    }

    private func writeQuickstart() throws {
        guard let seed = store.quickstart else { return }
        let file = QuickstartFile(
            seed, listeners: listeners, configuration: configuration, token: try store.mintQuickstartToken(),
            watchToken: try store.mintWatchToken(), certificatePath: certificates.authorityPath, setup: shared.setup)
        try directory.write(file.json, to: "quickstart.json")
        print(file.guide)
        fflush(nil)
    }
}
