import Admission
import EventLoop
import GatewayLogging
import Handover
import JSON
import RouterForwarding
import Sockets

/// The node's processes before and after this one: the one whose place it took, while that has sessions, and the one that takes
/// its own. Only of a node that is alone. On the control loop.
final class ProcessChain {
    /// The parts of the node that both sides work with.
    struct Environment {
        var embedded: EmbeddedContext
        var shared: SharedParts
        var listeners: Listeners
        /// Nil without stage routers that are asked.
        var placements: LocalPlacements?
        var workers: WorkerGroup
        var drain: NodeDrain
        var directory: String
        /// A further descriptor of the data directory's lock; negative where the system gives none.
        var duplicateLock: () -> CInt
        /// Has the data directory's lock say that this process holds it.
        var tellHolder: () throws -> Void
    }

    private let loop: EventLoop
    private let environment: Environment
    private var predecessor: Predecessor?
    private var handover: NodeHandover?

    init(loop: EventLoop, _ environment: Environment) { (self.loop, self.environment) = (loop, environment) }

    /// Live sessions of the processes before this one.
    var olderSessions: [JSONValue] { predecessor?.sessions ?? [] }

    /// Whether nobody but this process has streams of the node.
    var isOnlyProcess: Bool { predecessor == nil && handover?.hasSuccessor != true }

    /// Takes the place of the running process: everything is there to serve with.
    func takePlace(_ inheritance: Inheritance) throws {
        let (shared, workers, drain) = (environment.shared, environment.workers, environment.drain)
        let predecessor = try Predecessor(
            loop: loop, channel: inheritance.succession.channel(on: loop),
            services: HandoverServices(shared, placements: environment.placements), embedded: environment.embedded)
        try inheritance.succession.takePlace { predecessor.receive($0) }
        inheritance.leave(environment.listeners.unused(of: inheritance.succession.sockets))
        for worker in 0..<workers.count { workers.tell(.passForeign(inheritance.datagrams(worker: worker)), worker: worker) }
        workers.tell(.resume)
        try environment.tellHolder()
        drain.predecessor = predecessor
        predecessor.onCount = { [unowned self] in handover?.predecessorsChanged() }
        predecessor.onEnded = { [unowned self] in predecessorEnded() }
        self.predecessor = predecessor
        Log.event(.info, "took_over", ["live": .integer(shared.admission.gate.predecessorPublishes)])
    }

    private func predecessorEnded() {
        environment.workers.tell(.passForeign(nil))
        environment.drain.predecessor = nil
        predecessor = nil
        handover?.predecessorsChanged()
    }

    /// Lets another process take this one's place from now on.
    func offerPlace(
        _ admin: AdminSite, _ events: EventService, _ notifier: ServiceNotifier?, sessions: @escaping () -> [JSONValue]
    ) throws {
        let (shared, listeners) = (environment.shared, environment.listeners)
        let (duplicateLock, tellHolder) = (environment.duplicateLock, environment.tellHolder)
        let predecessor = { [unowned self] in self.predecessor }
        let told = Successor.Environment(
            process: shared.process, leases: environment.embedded.leases, staticRouters: shared.staticRouters,
            placements: environment.placements, activated: listeners.activated,
            sockets: {
                let lock = duplicateLock()
                return listeners.handedOver + (lock < 0 ? [] : [(SocketRole(.lock), OwnedDescriptor(lock))])
            },
            sessions: sessions, predecessor: predecessor)
        handover = try NodeHandover(
            loop: loop, directory: environment.directory,
            environment: NodeHandover.Environment(
                services: HandoverServices(shared, placements: environment.placements), embedded: environment.embedded,
                workers: environment.workers, drain: environment.drain, admin: admin, events: events, notifier: notifier,
                told: told, tellHolder: { try? tellHolder() }, predecessor: predecessor,
                obstacle: { [unowned self] in obstacle }))
    }

    /// Why nobody can take our place now; nil when somebody can.
    private var obstacle: String? {
        if let predecessor, predecessor.count >= NodeHandover.maximumPredecessors {
            return "\(predecessor.count) processes before this one still have streams"
        }
        return environment.shared.admission.gate.isLeaving ? "it is draining" : nil
    }

    /// Has the program that is now on disk take our place.
    func startSuccessor() { handover?.startSuccessor() }

    /// All services have ended.
    func tellRest() { handover?.tellRest() }

    /// A signal ends this node: a take-over under way is given up, or its process would serve on.
    func terminate() { handover?.terminate() }
}
