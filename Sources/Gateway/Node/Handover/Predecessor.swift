import Admission
import EventLoop
import GatewayLogging
import HTTP
import Handover
import HandoverCodec
import JSON
import MediaContract
import Refusals
import RouterForwarding
import Sockets
import Store
import WebRTCTransport
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
    private let platform: EmbeddedPlatform
    private let channel: HandoverChannel
    private var holders: [PublishLease: RemoteHolder] = [:]
    private var owners: [PublishLease: PublishGrant] = [:]
    private var ends: Mailbox<(PublishLease, LeaseEnd)>?
    private var requests: Mailbox<ForeignRequest>?
    /// Live sessions of the processes before us, as they tell them.
    private(set) var sessions: [JSONValue] = []
    private var toldSessions: [JSONValue] = []
    private var waiting: [Int: @Sendable (HTTPResponse) -> Void] = [:]
    private var lastNumber = 0
    private var isComplete = false

    init(loop: EventLoop, channel: HandoverChannel, services: HandoverServices, platform: EmbeddedPlatform) throws {
        (self.services, self.platform, self.channel) = (services, platform, channel)
        ends = try Mailbox(loop: loop) { [unowned self] lease, reason in
            self.channel.send(.end(lease, HandedEnd(reason)))
        }
        requests = try Mailbox(loop: loop) { [unowned self] in pass($0) }
        services.foreignRequests.open(requests?.sender)
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
        case .history(let writes): platform.store.record(writes)
        case .refusal(let handed): services.contract.adopt(handed, at: EventLoop.monotonicNow())
        case .sessions(let texts, let isLast): note(texts, isLast: isLast)
        case .reservation(let reservation):
            for router in services.staticRouters where router.configuration.name == reservation.router {
                router.adopt(reservation.port, of: reservation.owner)
            }
        case .progress(let list):
            for entry in list { holders[entry.lease]?.progressed(at: MonotonicTime(nanoseconds: entry.nanoseconds)) }
        case .response(let number, let response): waiting.removeValue(forKey: number)?(response.response)
        case .predecessors(let older):
            count = 1 + older
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
            holders[lease] ?? RemoteHolder(progress: EventLoop.monotonicNow()) { _ = sender?.send((lease, $0)) }
        (holders[lease], owners[lease]) = (holder, handed.grant)
        platform.leases.adopt(handed, holder: holder)
        services.gate.setForeignPublishes(holders.count)
    }

    private func released(_ lease: PublishLease) {
        platform.leases.forget(lease)
        forget(lease)
    }

    private func forget(_ lease: PublishLease) {
        holders.removeValue(forKey: lease)?.ended()
        services.gate.setForeignPublishes(holders.count)
        guard let grant = owners.removeValue(forKey: lease), grant.ingestConfigurationARN == nil,
            !platform.leases.isHeldHere(StageParticipant(grant.participantID, of: grant.stageARN))
        else { return }
        for router in services.staticRouters { router.release(grant.participant.name) }
    }

    private func pass(_ foreign: ForeignRequest) {
        lastNumber += 1
        guard waiting.count < Self.maximumWaiting,
            channel.send(.request(number: lastNumber, HandedRequest(foreign.request)))
        else { return refuse(foreign.reply) }
        waiting[lastNumber] = foreign.reply
    }

    private func refuse(_ reply: (HTTPResponse) -> Void) {
        reply(Problem.response(Refusal(.sessionOutOfReach), headers: ["Retry-After": "2"]))
    }

    /// Nothing is told any more. Its sessions may go on: nobody else gets their leases yet.
    private func closed() {
        services.foreignRequests.open(nil)
        let unanswered = waiting.values
        waiting = [:]
        for reply in unanswered { refuse(reply) }
    }

    /// What it did not give back itself died with it.
    private func gone() {
        for lease in Array(holders.keys) {
            platform.leases.release(lease)
            forget(lease)
        }
        Log.event(isComplete ? .info : .warning, "predecessor_ended", ["orderly": .bool(isComplete)])
        onEnded()
    }

    /// Requests whose answers are awaited, at most.
    private static let maximumWaiting = 256
}
