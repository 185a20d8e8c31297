import Admission
import EventLoop
import GatewayLogging
import HTTP
import Handover
import HandoverCodec
import JSON
import MediaContract
import RouterForwarding
import Sockets
import Store
import Wire

/// The process before us, as long as it has sessions: their leases, their history, and requests for them. On the control loop.
final class Predecessor {
    /// Called when it has ended.
    var onEnded: () -> Void = {}
    /// Called when `count` has changed.
    var onCount: () -> Void = {}
    /// How many processes before this one have sessions: it, and those before it.
    private(set) var count = 1

    private let services: HandoverServices
    private let embedded: EmbeddedContext
    private let channel: HandoverChannel
    private var publishes: [PublishLease: (holder: RemoteHolder, grant: PublishGrant)] = [:]
    private var ends: Mailbox<(PublishLease, LeaseEnd)>?
    private var requests: Mailbox<PredecessorRequest>?
    /// Live sessions of the processes before us, as they tell them.
    private(set) var sessions: [JSONValue] = []
    private var toldSessions: [JSONValue] = []
    private var waiting = ReplyTable<Reply<HTTPResponse>>(maximumCount: maximumWaiting)
    private var isComplete = false

    init(loop: EventLoop, channel: HandoverChannel, services: HandoverServices, embedded: EmbeddedContext) throws(SystemError) {
        (self.services, self.embedded, self.channel) = (services, embedded, channel)
        ends = try Mailbox(loop: loop) { [unowned self] lease, reason in
            self.channel.send(.end(lease, reason))
        }
        requests = try Mailbox(loop: loop) { [unowned self] in pass($0) }
        services.predecessorRequests.open(requests?.sender)
        channel.onMessage = { [unowned self] message, _ in receive(message) }
        channel.onClosed = { [unowned self] in closed() }
        channel.onGone = { [unowned self] in gone() }
    }

    /// Of it and those before it, for whoever takes our place.
    var lifeLines: [OwnedDescriptor] { channel.lifeLines }

    /// The node goes away, and with it its older process.
    func terminate() { channel.send(.terminate) }

    /// Another process has our place, or has lost it again: what becomes of the older one if we vanish depends on it.
    func tell(weAreSucceeded isSucceeded: Bool) { channel.send(.succeeded(isSucceeded)) }

    func receive(_ message: HandoverMessage) {
        switch message {
        case .lease(let handed): adopt(handed)
        case .released(let lease): released(lease)
        case .history(let writes): embedded.store.record(writes)
        case .refusal(let handed): services.contract.adopt(handed, at: EventLoop.monotonicNow())
        case .sessions(let texts, let isLast): note(texts, isLast: isLast)
        case .reservation(let reservation):
            for router in services.staticRouters where router.configuration.name == reservation.router {
                router.adopt(reservation.port, of: reservation.owner)
            }
        case .placements(let list):
            for entry in list { adopt(entry) }
        case .progress(let list):
            for entry in list { publishes[entry.lease]?.holder.progressed(at: MonotonicTime(nanoseconds: entry.nanoseconds)) }
        case .response(let number, let response): waiting.remove(number)?(response.response)
        case .predecessors(let older):
            count = Self.count(withOlder: older)
            onCount()
        case .left: isComplete = true
        default: channel.close()
        }
    }

    private func note(_ texts: [PeerBytes], isLast: Bool) {
        let room = OverviewReport.maximumSessions - toldSessions.count
        toldSessions += texts.prefix(room).compactMap { try? JSONValue(parsing: $0.bytes) }
        if isLast { (sessions, toldSessions) = (toldSessions, []) }
    }

    private func adopt(_ handed: HandedLease) {
        let sender = ends?.sender
        let lease = handed.lease
        let holder =
            publishes[lease]?.holder ?? RemoteHolder(progress: EventLoop.monotonicNow()) { _ = sender?.send((lease, $0)) }
        publishes[lease] = (holder, handed.grant)
        embedded.leases.adopt(handed, holder: holder)
        services.gate.predecessorPublishes = publishes.count
    }

    private func adopt(_ placement: HandedPlacement) {
        services.placements?.adopt(
            PlacementRecord(router: placement.router, generation: placement.generation),
            of: PlacementKey(stageID: placement.stageID, replica: placement.replica))
    }

    private func released(_ lease: PublishLease) {
        embedded.leases.forget(lease)
        forget(lease)
    }

    private func forget(_ lease: PublishLease) {
        let publish = publishes.removeValue(forKey: lease)
        publish?.holder.ended()
        services.gate.predecessorPublishes = publishes.count
        guard let grant = publish?.grant, grant.ingestConfigurationARN == nil,
            !embedded.leases.isHeldHere(StageParticipant(grant.participantID, of: grant.stageARN))
        else { return }
        for router in services.staticRouters { router.release(grant.participant.name) }
    }

    /// A client whose reply is dropped hears that the session is out of reach.
    private func pass(_ request: PredecessorRequest) {
        guard let number = waiting.insert(request.reply) else { return }
        if !channel.send(.request(number: number, HandedRequest(request.request))) { _ = waiting.remove(number) }
    }

    /// Nothing is told any more. Its sessions may go on: nobody else gets their leases yet.
    private func closed() {
        services.predecessorRequests.open(nil)
        _ = waiting.removeAll()
    }

    /// What it did not give back itself died with it.
    private func gone() {
        for lease in Array(publishes.keys) {
            embedded.leases.release(lease)
            forget(lease)
        }
        Log.event(isComplete ? .info : .warning, "predecessor_ended", ["orderly": .bool(isComplete)])
        onEnded()
    }

    /// Requests whose answers are awaited, at most.
    private static let maximumWaiting = 256

    /// That process and those before it. It may say any number, of which 0 to 62 are believed.
    static func count(withOlder older: Int) -> Int { 1 + min(max(0, older), 62) }
}
