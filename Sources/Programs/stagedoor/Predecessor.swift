import Admission
import EventLoop
import GatewayLogging
import HTTP
import Handover
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

    private let services: NodeServices
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

    init(loop: EventLoop, channel: HandoverChannel, services: NodeServices, platform: EmbeddedPlatform) throws {
        (self.services, self.platform, self.channel) = (services, platform, channel)
        ends = try Mailbox(loop: loop) { [unowned self] lease, reason in
            self.channel.send(.end(lease, HandedEnd(reason)))
        }
        requests = try Mailbox(loop: loop) { [unowned self] in pass($0) }
        services.foreignRequests.open(requests?.sender)
        channel.onMessage = { [unowned self] message, _ in receive(message) }
        channel.onClosed = { [unowned self] in closed() }
    }

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

    private func note(_ texts: [String], isLast: Bool) {
        guard toldSessions.count + texts.count <= OverviewReport.maximumSessions else { return channel.close() }
        toldSessions += texts.compactMap { try? JSONValue(parsing: $0) }
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
        guard let handed = HandedRequest(foreign.request), !channel.isClosed else {
            return foreign.reply(ProblemDocument(.notFound, detail: "The session's process has ended.").response())
        }
        lastNumber += 1
        waiting[lastNumber] = foreign.reply
        channel.send(.request(number: lastNumber, handed))
    }

    /// What it did not give back itself died with it.
    private func closed() {
        services.foreignRequests.open(nil)
        for lease in Array(holders.keys) {
            platform.leases.release(lease)
            forget(lease)
        }
        for reply in waiting.values {
            reply(ProblemDocument(.notFound, detail: "The session's process has ended.").response())
        }
        waiting = [:]
        Log.event(isComplete ? .info : .warning, "predecessor_ended", ["orderly": .bool(isComplete)])
        onEnded()
    }
}
