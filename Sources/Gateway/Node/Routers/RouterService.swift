import Admission
import Cluster
import DataDirectory
import EventLoop
import GatewayLogging
import OpenSSL
import RouterForwarding
import Settings
import Wire

/// The control loop's side of forwarding: where stages are placed, and what the rest of the node learns from it.
final class RouterService {
    /// The parts of the node that it works with.
    struct Environment {
        var membership: Membership
        var gate: AdmissionGate
        var outOfReach: StagesOutOfReach
        var metrics: RouterMetrics
        /// False while a process before this one, or after it, has streams too.
        var isOnlyProcess: () -> Bool
    }

    let control: RouterControl
    /// Nil in a cluster, whose nodes share them.
    let localPlacements: LocalPlacements?
    private var reach: TimerWatch?

    /// Nil when the configuration names no router that is asked: then there is nothing to place.
    init?(
        _ configuration: StagedoorConfiguration, loop: EventLoop, ownListeners: Set<SocketAddress>,
        _ environment: Environment, directory: borrowing DataDirectory
    ) throws {
        let drivers = try Self.drivers(
            configuration, loop, ownListeners: ownListeners, isOnlyProcess: environment.isOnlyProcess, directory)
        guard !drivers.isEmpty else { return nil }
        let placements = try Self.placements(loop, environment.membership)
        localPlacements = placements as? LocalPlacements
        control = try RouterControl(
            loop: loop, drivers: drivers, placements: placements, replicas: configuration.forwarding.replicas)
        control.onStory = { [metrics = environment.metrics] story in
            metrics.note(story)
            story.log()
        }
        // A receiver that cannot be asked always counts as alive: it takes what comes.
        guard configuration.routers.values.allSatisfy(\.isAsked) else { return }
        control.onAvailabilityChanged = { [gate = environment.gate] isAvailable in
            gate.setClosed(!isAvailable, because: .noRouter)
            Log.event(isAvailable ? .info : .error, "routers_available", ["available": .bool(isAvailable)])
        }
        if case .member(let cluster) = environment.membership { watchReach(loop, cluster, environment.outOfReach) }
    }

    /// Once a second: which routers are out of reach for this node alone.
    private func watchReach(_ loop: EventLoop, _ cluster: ClusterContext, _ stages: StagesOutOfReach) {
        var reach = RouterReach()
        self.reach = loop.schedule(after: .seconds(1), repeating: .seconds(1)) { [control, unowned loop] in
            let living = Set(control.status.filter { !$0.isDead }.map(\.name))
            let routers = reach.outOfReach(living: living, seenByOthers: cluster.routersSeenByOthers, at: loop.now)
            guard stages.set(routers) else { return }
            Log.event(routers.isEmpty ? .info : .error, "routers_out_of_reach", ["routers": .strings(routers.sorted())])
        }
    }

    private static func placements(_ loop: EventLoop, _ membership: Membership) throws(SystemError) -> any PlacementStore {
        guard case .member(let cluster) = membership else { return LocalPlacements() }
        return try SharedPlacements(loop: loop, store: cluster.store, leases: cluster.leases) {
            cluster.routersSeenByOthers.contains($0)
        }
    }

    private static func drivers(
        _ configuration: StagedoorConfiguration, _ loop: EventLoop, ownListeners: Set<SocketAddress>,
        isOnlyProcess: @escaping () -> Bool, _ directory: borrowing DataDirectory
    ) throws -> [any RouterDriver] {
        let asked = configuration.routers.filter(\.value.isAsked)
        let usesJanus = asked.contains { $0.value.driver == .janus }
        let key = usesJanus ? try MountpointKey.load(from: directory) : Secret("")
        let drivers = RouterDrivers(
            loop: loop, gatewayID: makeGatewayID(), ownListeners: ownListeners,
            ownership: MountpointOwnership(key: key), isOnlyProcess: isOnlyProcess)
        for (name, settings) in asked { try checkKey(of: name, settings) }
        let routes = try RouterAddress.routes(to: asked.mapValues(\.url))
        return asked.sorted { $0.key < $1.key }.compactMap { name, settings in
            routes[name].flatMap { drivers.driver(name, settings, route: $0) }
        }
    }

    /// The key of what we show a router; it may stand in the certificate's file.
    /// - Throws: for one that cannot be read, as without its passphrase.
    static func checkKey(of name: String, _ settings: RouterSettings) throws(StartupError) {
        guard !settings.certificate.isEmpty else { return }
        let (key, path) =
            settings.privateKey.isEmpty ? ("certificate", settings.certificate) : ("privateKey", settings.privateKey)
        do {
            _ = try PrivateKey(pem: NamedFile.read(path))
        } catch {
            throw .router("routers.\(name).\(key): needs a private key that is not encrypted: \(error)")
        }
    }

    /// Routers tell this process from all others by it. A process number would not do: the first process of every container has
    /// the same one, and would renew the lease of the one that died there.
    static func makeGatewayID() -> String {
        "\(MachineName.current)-\(String(hexadecimal: Random.bytes(count: 6)))"
    }
}
