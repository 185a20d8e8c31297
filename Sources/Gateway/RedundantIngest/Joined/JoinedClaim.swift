import Admission
import EventLoop
import Refusals
import Wire

/// The lease of a participant that two encoders are: claimed when the first of them comes, kept
/// until the last has gone. Confined.
final class JoinedClaim {
    private enum State {
        /// Not asked for before this.
        case none(until: MonotonicTime)
        /// - Parameter end: of the lease that the answer brings, where that is known before it: each comes on a way of its own.
        case asking(end: LeaseEnd?)
        /// Somebody else of the gateway or the cluster joins this participant; asked again then, so that it is looked at.
        case waiting(any LeaseHolder, until: MonotonicTime)
        case held(PublishLease)
        /// Until an encoder comes anew.
        case over
    }

    /// What it asks.
    struct Environment {
        var leases: any PublishLeases
        var replies: ReplyBox
        var loop: EventLoop
    }

    /// The lease is here; whoever is called begins to publish.
    var onGranted: (PublishLease) -> Void = { _ in }
    /// Called once for each reason: while a cluster's servers are away it is asked for every second.
    var onRefused: (Refusal) -> Void = { _ in }
    /// Until the lease is to be had, or is somebody's.
    private var toldRefusal: RefusalCode?
    private let environment: Environment
    private let grant: PublishGrant
    private let ingestProtocol: IngestProtocol
    private let onEnd: @Sendable (_ claim: Int, LeaseEnd) -> Void
    /// Of the latest claim.
    private var holder: LocalHolder?
    private var number = 0
    private var state = State.none(until: .zero)

    /// If whoever joins it elsewhere has brought nothing for this long, it is ours. Its node is asked four times a second.
    static let silence = Duration.seconds(1)
    /// Shorter than nodes watch the lease of another one for those that wait (`LeaseOwners.watchLifetime`).
    static let waitingTime = Duration.seconds(20)
    /// The pause after a refusal.
    static let retryInterval = Duration.seconds(1)

    /// - Parameter onEnd: called on any thread when the lease that a claim brought is taken away.
    init(
        _ grant: PublishGrant, _ ingestProtocol: IngestProtocol, _ environment: Environment,
        onEnd: @escaping @Sendable (_ claim: Int, LeaseEnd) -> Void
    ) {
        (self.grant, self.ingestProtocol, self.environment, self.onEnd) = (grant, ingestProtocol, environment, onEnd)
    }

    var lease: PublishLease? { if case .held(let lease) = state { lease } else { nil } }
    var isOver: Bool { if case .over = state { true } else { false } }

    func progressed(at now: MonotonicTime) { holder?.progressed(at: now) }

    /// Nothing is to be had here: whoever waits elsewhere need wait no longer.
    func yield() { holder?.progressed(at: .zero) }

    /// An encoder comes: what was over begins anew.
    func open() { if isOver { state = .none(until: .zero) } }

    /// Asks where it is time to. To be called several times a second while an encoder is there.
    func look(at now: MonotonicTime) {
        switch state {
        case .none(let time) where now >= time: ask(takeOver: false)
        case .waiting(let incumbent, let time) where incumbent.hasEnded || now >= time: ask(takeOver: false)
        case .waiting(let incumbent, _) where now - incumbent.lastProgress >= Self.silence: ask(takeOver: true)
        case .none, .waiting, .asking, .held, .over: break
        }
    }

    private func ask(takeOver: Bool) {
        state = .asking(end: nil)
        number += 1
        let holder = LocalHolder { [onEnd, number] in onEnd(number, $0) }
        holder.progressed(at: environment.loop.now)
        self.holder = holder
        environment.leases.claimPublish(
            grant, protocol: ingestProtocol, holder: holder, takeOver: takeOver, through: environment.replies
        ) { [self] in answered($0) }
    }

    private func answered(_ answer: ClaimAnswer) {
        guard case .asking(let end) = state else {
            if case .granted(let lease) = answer { environment.leases.release(lease) }
            return
        }
        let told = toldRefusal
        toldRefusal = nil
        switch answer {
        case .granted(let lease):
            state = .held(lease)
            if let end { _ = lost(number, end) } else { onGranted(lease) }
        case .held(let incumbent): state = .waiting(incumbent, until: environment.loop.now + Self.waitingTime)
        case .refused(let refusal):
            state = .none(until: environment.loop.now + Self.retryInterval)
            toldRefusal = refusal.code
            if told != refusal.code { onRefused(refusal) }
        }
    }

    /// It was taken away.
    /// - Returns: whether it was held until now.
    func lost(_ number: Int, _ reason: LeaseEnd) -> Bool {
        guard number == self.number else { return false }
        if case .asking = state { state = .asking(end: reason) }
        guard lease != nil else { return false }
        finish()
        if case .takenOver = reason { state = .none(until: environment.loop.now + Self.retryInterval) }
        return true
    }

    /// Nobody is there any more.
    func finish() {
        if let lease { environment.leases.release(lease) }
        holder?.ended()
        holder = nil
        state = .over
    }
}
