import Admission
import ControlPlane
import DataDirectory
import EventLoop
import Foundation
import GatewayConfiguration
import GatewayLogging
import GatewayMetrics
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
final class Node {
    private let configuration: StagedoorConfiguration
    private let directory: DataDirectory
    private let listeners: Listeners
    private let certificates: ServerCertificates
    private let loop: EventLoop
    private let store: NodeStore
    private var services: NodeServices
    private var routers: RouterPlane?
    private let reservations: StaticReservations
    private var workers: WorkerGroup
    private var signals: [Watch] = []
    private let drain: NodeDrain
    private let source: ConfigurationSource
    private var reload: NodeReload?
    private let load: LoadGuard

    init(_ configuration: StagedoorConfiguration, source: ConfigurationSource) throws {
        umask(0o077)
        (self.configuration, self.source) = (configuration, source)
        directory = try DataDirectory(at: configuration.store.directory)
        let workerCount = configuration.workers.count > 0 ? configuration.workers.count : CPUAllowance.granted
        listeners = try Listeners(configuration, workers: workerCount)
        try LogOutput.start(configuration.logging)
        loop = try EventLoop()
        certificates = try ServerCertificates(configuration, directory: directory)
        store = try NodeStore(
            configuration, endpoints: StageEndpoints(configuration, listeners: listeners), directory: directory,
            isQuickstart: source.isQuickstart)
        services = try NodeServices(
            configuration, listeners: listeners, workerCount: workerCount, store: store, directory: directory,
            certificates: certificates)
        reservations = StaticReservations(services.staticRouters)
        reservations.follow(store.store.state)
        workers = try WorkerGroup(loop: loop, count: workerCount)
        load = LoadGuard(loop: loop, services: services, settings: configuration.overload)
        drain = NodeDrain(loop: loop, gate: services.gate, workers: workers, settings: DrainPlan.Settings(configuration.drain))
    }

    /// Serves until a signal's drain is over; returns when every session is over and everything is written.
    func run() throws {
        routers = try RouterPlane(
            configuration, loop: loop, ownListeners: listeners.addresses, services: services,
            directory: directory)
        services.forwarding = routers?.control.sender
        try workers.start(listeners, services: services)
        let report = OverviewReport(
            services: services, sampler: SessionSampler(loop: loop, board: services.board, metrics: services.metrics),
            load: load, drain: drain, routers: routers?.control)
        let admin = try AdminSite(
            loop: loop, socket: listeners.admin, services: services,
            settings: ControlPlaneSettings(configuration, store: store),
            events: try EventPlane(configuration, loop: loop, store: store),
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
        watchSignals()
        if source.isQuickstart { try writeQuickstart() }
        Log.event(.info, "started", ["version": .string(Version.current), "workers": .integer(workers.count)])
        StartupWarnings.log(advertised: services.transport?.configuration.advertisedAddresses ?? [])
        let notifier = ServiceNotifier(loop: loop)
        notifier?.send("READY=1")
        loop.run()
        notifier?.send("STOPPING=1")
        workers.stop()
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
    }

    private func apply(_ change: NodeReload.Change, to admin: AdminSite) {
        if let tls = change.tls { workers.tell(.replaceTLS(tls)) }
        let configuration = change.configuration
        Log.setLevel(LogLevel(name: configuration.logging.level.rawValue) ?? .info)
        services.contract.apply(ContractRules(configuration.contract))
        load.apply(configuration.overload)
        drain.settings = DrainPlan.Settings(configuration.drain)
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
