import Admission
import ControlPlane
import DataDirectory
import EventLoop
import Foundation
public import GatewayConfiguration
import GatewayLogging
import GatewayMetrics
import Handover
import MediaContract
import Monitoring
import OpenSSL
import RouterForwarding
import Sockets
import Store
import WHIPIngest
import WebRTCTransport
import Wire

/// One running gateway: the control loop on the main thread, its workers, and the order in which they start and stop.
public final class Node {
    private let configuration: StagedoorConfiguration
    private let directory: DataDirectory
    private let listeners: Listeners
    private let certificates: ServerCertificates
    private let loop: EventLoop
    private let store: NodeStore
    private var services: NodeServices
    private var routers: RouterPlane?
    private var cluster: ClusterPlane?
    private let reservations: StaticReservations
    private var workers: WorkerGroup
    private var signals: [Watch] = []
    private let drain: NodeDrain
    private let source: ConfigurationSource
    private var reload: NodeReload?
    private let load: LoadGuard
    private let inheritance: Inheritance?
    private let generation: UInt8
    private let sessionKey: Secret
    private var predecessor: Predecessor?
    private var handover: NodeHandover?

    /// - Parameter inheritance: of a running process, whose place is taken.
    public init(_ configuration: StagedoorConfiguration, source: ConfigurationSource, inheritance: Inheritance? = nil) throws {
        umask(0o077)
        (self.configuration, self.source, self.inheritance) = (configuration, source, inheritance)
        generation = inheritance?.generation ?? 0
        let path = configuration.store.directory
        directory = try inheritance?.openDirectory(at: path) ?? DataDirectory(at: path)
        let configuredCount = configuration.workers.count > 0 ? configuration.workers.count : CPUAllowance.granted
        let workerCount = inheritance?.succession.offer.workers ?? configuredCount
        let activated = try SocketActivation.take()
        listeners = try Listeners(configuration, workers: workerCount) { kind in
            GivenSockets(kind, inheritance?.sockets(kind) ?? [], areBinding: false)
                ?? GivenSockets(kind, activated[kind] ?? [], areBinding: true)
        }
        try LogOutput.start(configuration.logging)
        loop = try EventLoop()
        certificates = try ServerCertificates(configuration, directory: directory)
        sessionKey = try SessionKey.load(configuration.cluster, inherited: inheritance?.succession.offer.sessionKey)
        let inventory = try inheritance?.succession.prepare()
        store = try NodeStore(
            configuration, endpoints: StageEndpoints(configuration, listeners: listeners), directory: directory,
            isQuickstart: source.isQuickstart, sparing: inventory?.living ?? [])
        services = try NodeServices(
            configuration, listeners: listeners, workerCount: workerCount, store: store, directory: directory,
            certificates: certificates, generation: generation, sessionKey: sessionKey)
        reservations = StaticReservations(services.staticRouters)
        reservations.adopt(inventory?.reservations ?? [])
        reservations.follow(store.store.state)
        workers = try WorkerGroup(loop: loop, count: workerCount)
        load = LoadGuard(loop: loop, services: services, settings: configuration.overload)
        drain = NodeDrain(loop: loop, gate: services.gate, workers: workers, settings: configuration.drain) {
            [whip = services.whip] in whip?.directory.pendingCount ?? 0
        }
    }

    /// Serves until a signal's drain is over; returns when every session is over and everything is written.
    public func run() throws {
        routers = try RouterPlane(
            configuration, loop: loop, ownListeners: listeners.addresses, services: services,
            directory: directory)
        services.forwarding = routers?.control.sender
        cluster = try services.cluster.map { platform in
            try ClusterPlane(
                loop: loop, platform: platform, url: listeners.clusterURL(configuration), services: services, load: load,
                routers: routers?.control)
        }
        try workers.start(listeners, services: services, areSuspended: inheritance != nil)
        let events = try EventPlane(configuration, loop: loop, store: store)
        let report = OverviewReport(
            services: services, sampler: SessionSampler(loop: loop, board: services.board, metrics: services.metrics),
            load: load, drain: drain, routers: routers?.control)
        report.older = { [unowned self] in predecessor?.sessions ?? [] }
        let admin = try AdminSite(
            loop: loop, socket: listeners.admin, services: services,
            settings: ControlPlaneSettings(configuration, store: store),
            events: events,
            operators: OperatorAPI(
                whip: services.whip, descriptions: DescriptionFiles(directory: directory.path + "/sdp"), report: report),
            reservations: reservations,
            drain: drain)
        defer { admin.drain() }
        reload = NodeReload(
            loop: loop, source: source, running: configuration, certificates: certificates, metrics: services.metrics,
            apply: { [unowned self] in apply($0, to: admin) })
        let hook = try services.hooked.map { authorizer in
            try AuthorizeHook(loop: loop, settings: .init(configuration.authorize), answering: authorizer)
        }
        defer { withExtendedLifetime(hook) {} }
        try takePlace()
        let notifier = ServiceNotifier(loop: loop)
        try offerPlace(admin: admin, events: events, notifier: notifier, report: report)
        watchSignals()
        if source.isQuickstart { try writeQuickstart() }
        Log.event(
            .info, "started",
            [
                "version": .string(Version.current), "workers": .integer(workers.count),
                "libraries": .strings(LibraryVersions.inUse),
            ])
        StartupWarnings.log(mediaSockets: listeners.media.count, workers: workers.count)
        StartupWarnings.log(advertised: services.transport?.configuration.advertisedAddresses ?? [])
        notifier?.send("READY=1")
        loop.run()
        notifier?.send("STOPPING=1")
        workers.stop()
        cluster?.close()
        store.close()
        Log.event(.info, "stopped")
        Log.stop()
    }

    private func watchSignals() {
        for number in [SIGTERM, SIGINT] {
            signals.append(
                loop.watchSignal(number) { [unowned self] in drain.terminate() })
        }
        signals.append(loop.watchSignal(SIGHUP) { [unowned self] in reload?.reload(because: "SIGHUP") })
        signals.append(
            loop.watchSignal(SIGUSR2) { [unowned self] in
                guard let handover else {
                    return Log.event(.warning, "handover_refused", ["because": "a node of a cluster is drained: SIGTERM"])
                }
                handover.startSuccessor()
            })
    }

    /// Everything is there to serve with: the process whose place we take lets go of it.
    private func takePlace() throws {
        guard let inheritance, let platform = services.alone else { return }
        let predecessor = try Predecessor(
            loop: loop, channel: inheritance.succession.channel(on: loop), services: services, platform: platform)
        try inheritance.succession.takePlace { predecessor.receive($0) }
        for worker in 0..<workers.count { workers.tell(.passForeign(inheritance.datagrams(worker: worker)), worker: worker) }
        workers.tell(.resume)
        try directory.tellHolder()
        drain.terminatePredecessor = { predecessor.terminate() }
        predecessor.onCount = { [unowned self] in handover?.countPredecessors() }
        predecessor.onEnded = { [unowned self] in
            workers.tell(.passForeign(nil))
            drain.terminatePredecessor = nil
            self.predecessor = nil
            handover?.countPredecessors()
        }
        self.predecessor = predecessor
        Log.event(.info, "took_over", ["live": .integer(services.gate.foreignPublishes)])
    }

    /// Waits for a process that takes our place.
    private func offerPlace(
        admin: AdminSite, events: EventPlane, notifier: ServiceNotifier?, report: OverviewReport
    ) throws {
        guard let platform = services.alone else { return }
        let handover = try NodeHandover(
            loop: loop, directory: directory.path,
            parts: NodeHandover.Parts(
                services: services, platform: platform, workers: workers, drain: drain, admin: admin, events: events,
                notifier: notifier,
                generation: generation, sessionKey: sessionKey,
                sockets: { [unowned self] in
                    let lock = directory.duplicateLock()
                    return listeners.handedOver + (lock < 0 ? [] : [(SocketRole(.lock), OwnedDescriptor(lock))])
                },
                tellHolder: { [unowned self] in try? directory.tellHolder() },
                sessions: { report.sessions }, predecessor: { [unowned self] in predecessor }))
        handover.obstacle = { [unowned self] in
            if let predecessor, predecessor.count >= NodeHandover.maximumPredecessors {
                return "\(predecessor.count) processes before this one still have streams"
            }
            return services.gate.isLeaving ? "it is draining" : nil
        }
        self.handover = handover
    }

    private func apply(_ change: NodeReload.Change, to admin: AdminSite) {
        if let tls = change.tls { workers.tell(.replaceTLS(tls)) }
        let configuration = change.configuration
        Log.setLevel(LogLevel(name: configuration.logging.level.rawValue) ?? .info)
        services.contract.apply(ContractRules(configuration.contract))
        load.apply(configuration.overload)
        services.gate.requireTLS(configuration.rtmp.requiresTLS)
        drain.apply(configuration.drain)
        admin.apply(ControlPlaneSettings(configuration, store: store))
    }

    private func writeQuickstart() throws {
        guard let seed = store.quickstart else { return }
        let file = QuickstartFile(
            seed, listeners: listeners, configuration: configuration, token: try store.mintQuickstartToken(),
            watchToken: try store.mintWatchToken(), certificatePath: certificates.authorityPath)
        try directory.write(file.json, to: "quickstart.json")
        print(file.guide)
        fflush(nil)
    }
}

extension AuthorizeHook.Settings {
    init(_ settings: AuthorizeSettings) {
        self.init(url: settings.url)
        (secret, timeout, cache) = (settings.secret, settings.timeout, settings.cache)
        allowsOnFailure = settings.onFailure == .allow
    }
}
