import Admission
import EventLoop
import Handover
import JSON
import RouterForwarding
import Sockets
import Store
import Wire

/// The process that takes our place, as long as it is connected: what it gets, and what it hears of us. On the control loop.
final class Successor {
    /// What it hears of.
    struct Environment {
        let process: ProcessIdentity
        let leases: EmbeddedLeases
        let staticRouters: [StaticRouter]
        /// Nil without stage routers that are asked.
        let placements: LocalPlacements?
        /// Listeners whose address systemd's units decided.
        let activated: Set<SocketRole.Kind>
        /// Everything that it gets but the pairs for datagrams, which are made anew each time.
        let sockets: () -> [(SocketRole, OwnedDescriptor)]
        /// Live sessions, those of the processes before us included.
        let sessions: () -> [JSONValue]
        /// The process before us, as long as it has sessions.
        let predecessor: () -> Predecessor?
    }

    private let loop: EventLoop
    private let channel: HandoverChannel
    private let environment: Environment
    /// Our ends of the pairs for datagrams, one for each worker, until the workers have them.
    private var links: [OwnedDescriptor] = []
    private var progress: ProgressFeed?

    init(loop: EventLoop, _ channel: HandoverChannel, _ environment: Environment) {
        (self.loop, self.channel, self.environment) = (loop, channel, environment)
    }

    func send(_ message: HandoverMessage) { channel.send(message) }

    func send(_ writes: [HistoryWrite]) { channel.send(writes) { .history($0) } }

    /// Ends the connection.
    func close() { channel.close() }

    /// Sends `offer` and every descriptor.
    func offer() {
        let (own, workers) = (environment.sockets(), environment.process.workerCount)
        let older = environment.predecessor()?.lifeLines ?? []
        guard let sockets = try? OfferedSockets(own, workers: workers, older: older) else { return channel.close() }
        links = sockets.links
        channel.follow(sockets.lifeLine)
        channel.send(
            .offer(
                HandoverOffer(
                    generation: environment.process.generation, workers: workers, descriptors: sockets.count,
                    sessionKey: environment.process.sessionKey.reveal(), activated: environment.activated)))
        sockets.send(over: channel)
    }

    /// By which its datagrams come, for the workers; once.
    func takeLinks() -> [OwnedDescriptor] {
        defer { links = [] }
        return links
    }

    func tellLiving() { channel.send(Array(environment.leases.living)) { .living($0) } }

    func tellReservations() {
        for router in environment.staticRouters {
            for (owner, port) in router.reservations {
                channel.send(.reservation(PortReservation(router: router.configuration.name, owner: owner, port: port)))
            }
        }
    }

    /// Of stages that are live: all others are placed anew by their next publish.
    func tellPlacements() {
        let live = Set(environment.leases.progress.map(\.lease.stageID))
        let placements = environment.placements?.records(ofStages: live) ?? [:]
        channel.send(placements.map { HandedPlacement($0.key, $0.value) }) { .placements($0) }
    }

    func tellPredecessors() { channel.send(.predecessors(environment.predecessor()?.count ?? 0)) }

    /// Again and again from now on.
    func tellProgress() {
        progress = ProgressFeed(loop: loop, channel: channel, leases: environment.leases, sessions: environment.sessions)
    }

    /// Its end has come: it is told nothing more, and what was made for it goes.
    func clear() { (progress, links) = (nil, []) }
}

extension HandedPlacement {
    fileprivate init(_ key: PlacementKey, _ record: PlacementRecord) {
        self.init(stageID: key.stageID, replica: key.replica, router: record.router, generation: record.generation)
    }
}
