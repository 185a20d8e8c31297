import Admission
import ControlPlane
import DataDirectory
import EventLoop
import Foundation
import GatewayConfiguration
import GatewayLogging
import GatewayMetrics
import OpenSSL
import RouterForwarding
import Sockets
import Store
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
    private let isQuickstart: Bool

    init(_ configuration: StagedoorConfiguration, isQuickstart: Bool) throws {
        umask(0o077)
        (self.configuration, self.isQuickstart) = (configuration, isQuickstart)
        directory = try DataDirectory(at: configuration.store.directory)
        let workerCount = configuration.workers.count > 0 ? configuration.workers.count : CPUAllowance.granted
        listeners = try Listeners(configuration, workers: workerCount)
        try LogOutput.start(configuration.logging)
        loop = try EventLoop()
        certificates = try ServerCertificates(configuration.tls, directory: directory, host: configuration.advertise.host)
        store = try NodeStore(
            configuration, endpoints: StageEndpoints(configuration, listeners: listeners), directory: directory,
            isQuickstart: isQuickstart)
        services = try NodeServices(
            configuration, listeners: listeners, workerCount: workerCount, store: store, directory: directory,
            certificates: certificates)
        reservations = StaticReservations(services.staticRouters)
        reservations.follow(store.store.state)
        workers = try WorkerGroup(loop: loop, count: workerCount)
    }

    /// Serves until a signal ends it; returns when every session is over and everything is written.
    func run() throws {
        routers = try RouterPlane(
            configuration, loop: loop, ownListeners: listeners.addresses, metrics: services.routerMetrics)
        services.forwarding = routers?.control.sender
        try workers.start(listeners, services: services)
        let admin = try AdminSite(
            loop: loop, socket: listeners.admin, services: services,
            settings: ControlPlaneSettings(configuration, store: store),
            events: try EventPlane(configuration, loop: loop, store: store),
            operators: OperatorAPI(whip: services.whip, descriptions: DescriptionFiles(directory: directory.path + "/sdp")),
            reservations: reservations)
        defer { admin.drain() }
        watchSignals()
        if isQuickstart { try writeQuickstart() }
        Log.event(.info, "started", ["version": .string(Version.current), "workers": .integer(workers.count)])
        loop.run()
        workers.stop()
        store.close()
        Log.event(.info, "stopped")
        Log.stop()
    }

    private func watchSignals() {
        for number in [SIGTERM, SIGINT] {
            signals.append(
                loop.watchSignal(number) { [unowned self] in loop.stop() })
        }
    }

    private func writeQuickstart() throws {
        guard let seed = store.quickstart else { return }
        let file = QuickstartFile(
            seed, listeners: listeners, configuration: configuration, token: try store.mintQuickstartToken(),
            certificatePath: certificates.authorityPath)
        try directory.write(file.json, to: "quickstart.json")
        print(file.guide)
        fflush(nil)
    }
}
