public import Refusals
public import Wire

/// One publish from the encoder's wish to its end: authorized, examined, in possession of the lease, live (docs/design.md 7.2,
/// 7.3). RTMP and WHIP carry its actions out, each in its own way.
///
/// A value without clock, thread or I/O: every input returns what is to be done, in that order. What an input asks for is
/// always its last action, so an answer may come at once. An answer that comes after the publish is over gives back at most
/// the lease that it brings.
public struct PublishMachine: Sendable {
    /// How a publish gets a lease that somebody else holds.
    public enum Contest: Sendable {
        /// RTMP: the encoder waits unanswered until the incumbent shows life, which refuses it, or has been silent for so long.
        case outwaits(silence: Duration)
        /// WHIP: the newest wins, but not before it is `ready` for media; until then the incumbent keeps the lease.
        case winsWhenReady
    }

    /// What whoever runs the machine does next.
    public enum Action: Sendable {
        /// Ask whether this credential may publish. The answer is `authorized`.
        case authorize(Secret)
        /// Look for what speaks against it: a refusal that the encoder has still to hear, an offer that cannot be served. The
        /// answer is `examined`.
        case examine(PublishGrant)
        /// Ask for the lease. The answer is `claimed`.
        case claim(PublishGrant, takeOver: Bool)
        /// Ask whether one more may wait for this lease. The answer is `admittedToQueue`.
        case enterQueue(PublishGrant, behind: any LeaseHolder)
        /// Look at the incumbent after so long. The answer is `looked`.
        case look(after: Duration)
        /// It waits for the lease no longer.
        case leaveQueue
        /// Let the encoder open its way for media. What follows is `ready`.
        case prepare
        /// Let media flow.
        case start(PublishGrant, PublishLease)
        /// End the media that `start` began.
        case stop
        /// Report that the publish fails by our decision.
        case fail(PublishLease, Refusal)
        /// Give the lease back.
        case release(PublishLease)
        /// Turn the encoder away in these words.
        /// - Parameter of: whose publish it would have been, of a good credential that has no lease: this is to be reported.
        case refuse(Refusal, of: PublishGrant?)
        /// Tell the encoder that another one has taken over.
        case giveWay
    }

    private enum State: Sendable {
        case new([Secret])
        /// The authorizer is asked about one credential; where it does not know that one, these are tried.
        case authorizing(others: ArraySlice<Secret>)
        case examining(PublishGrant)
        case claiming(Claim)
        case enteringQueue(PublishGrant, incumbent: any LeaseHolder, since: MonotonicTime)
        case waiting(PublishGrant, incumbent: any LeaseHolder, Takeover)
        /// Without a lease: an incumbent keeps it until this publish is ready.
        case preparing(PublishGrant, PublishLease?)
        case live(PublishGrant, PublishLease)
        case over
    }

    private struct Claim: Sendable {
        let grant: PublishGrant
        /// Nothing but the lease is missing.
        var isReady: Bool
        var isQueued = false
        /// The lease was taken away before its claim was answered.
        var end: LeaseEnd?
    }

    private let contest: Contest
    private var state: State

    /// - Parameter credentials: in the order in which they are tried, at least one.
    public init(_ credentials: [Secret], contest: Contest) {
        (self.contest, state) = (contest, .new(credentials))
    }

    /// Nothing changes any more.
    public var isOver: Bool { if case .over = state { true } else { false } }

    /// What it holds, live or not yet.
    public var lease: PublishLease? {
        switch state {
        case .preparing(_, let lease): lease
        case .live(_, let lease): lease
        default: nil
        }
    }

    /// Whose silence it waits for.
    public var incumbent: (any LeaseHolder)? { if case .waiting(_, let incumbent, _) = state { incumbent } else { nil } }
}

// MARK: - To the lease

extension PublishMachine {
    /// The encoder wishes to publish. Later calls change nothing.
    public mutating func begin() -> [Action] {
        guard case .new(let credentials) = state else { return [] }
        return authorize(credentials[...])
    }

    private mutating func authorize(_ credentials: ArraySlice<Secret>) -> [Action] {
        guard let first = credentials.first else { return refuse(Refusal(.unknownStreamKey), of: nil) }
        state = .authorizing(others: credentials.dropFirst())
        return [.authorize(first)]
    }

    /// The answer to `authorize`: whose publish the credential means, or why it is refused.
    public mutating func authorized(_ result: Result<PublishGrant, Refusal>) -> [Action] {
        guard case .authorizing(let others) = state else { return [] }
        switch result {
        case .success(let grant):
            state = .examining(grant)
            return [.examine(grant)]
        // The name may have been an instance and a key in one, or the other way round.
        case .failure(let refusal) where refusal.code == .unknownStreamKey && !others.isEmpty: return authorize(others)
        case .failure(let refusal): return refuse(refusal, of: nil)
        }
    }

    /// The answer to `examine`.
    /// - Parameter objection: what speaks against this publish.
    public mutating func examined(_ objection: Refusal?) -> [Action] {
        guard case .examining(let grant) = state else { return [] }
        if let objection { return refuse(objection, of: grant) }
        return claim(Claim(grant: grant, isReady: isAlwaysReady), takeOver: false)
    }

    private var isAlwaysReady: Bool { if case .outwaits = contest { true } else { false } }

    private mutating func claim(_ claim: Claim, takeOver: Bool) -> [Action] {
        state = .claiming(claim)
        return [.claim(claim.grant, takeOver: takeOver)]
    }

    /// The answer to `claim`. A lease that comes too late is given back.
    public mutating func claimed(_ answer: ClaimAnswer, at now: MonotonicTime) -> [Action] {
        guard case .claiming(let claim) = state else {
            if case .granted(let lease) = answer { return [.release(lease)] }
            return []
        }
        switch answer {
        case .granted(let lease): return granted(lease, claim)
        case .held(let incumbent): return contested(by: incumbent, claim, now)
        case .refused(let refusal): return leaveQueue(claim) + refuse(refusal, of: claim.grant)
        }
    }

    private mutating func granted(_ lease: PublishLease, _ claim: Claim) -> [Action] {
        if let end = claim.end {
            state = .preparing(claim.grant, lease)
            return leaveQueue(claim) + leaseEnded(end)
        }
        guard claim.isReady else {
            state = .preparing(claim.grant, lease)
            return [.prepare]
        }
        state = .live(claim.grant, lease)
        return leaveQueue(claim) + [.start(claim.grant, lease)]
    }

    private func leaveQueue(_ claim: Claim) -> [Action] { claim.isQueued ? [.leaveQueue] : [] }
}

// MARK: - A lease that somebody else holds

extension PublishMachine {
    private mutating func contested(by incumbent: any LeaseHolder, _ claim: Claim, _ now: MonotonicTime) -> [Action] {
        switch contest {
        case .winsWhenReady where claim.isReady: return self.claim(Claim(grant: claim.grant, isReady: true), takeOver: true)
        case .outwaits(let silence) where claim.isQueued:
            state = .waiting(claim.grant, incumbent: incumbent, Takeover(began: now, silence: silence))
            return [.look(after: Takeover.firstPollInterval)]
        case .outwaits, .winsWhenReady:
            state = .enteringQueue(claim.grant, incumbent: incumbent, since: now)
            return [.enterQueue(claim.grant, behind: incumbent)]
        }
    }

    /// The answer to `enterQueue`.
    /// - Parameter objection: why this one may not wait for the lease.
    public mutating func admittedToQueue(_ objection: Refusal?) -> [Action] {
        guard case .enteringQueue(let grant, let incumbent, let since) = state else { return [] }
        if let objection { return refuse(objection, of: grant) }
        switch contest {
        case .outwaits(let silence):
            state = .waiting(grant, incumbent: incumbent, Takeover(began: since, silence: silence))
            return [.look(after: .zero)]
        case .winsWhenReady:
            state = .preparing(grant, nil)
            return [.prepare]
        }
    }

    /// Somebody looked at the incumbent, because it was time or because that has ended.
    /// - Parameter progress: when it last completed a frame.
    public mutating func looked(progress: MonotonicTime, hasEnded: Bool, at now: MonotonicTime) -> [Action] {
        guard case .waiting(let grant, let incumbent, var takeover) = state else { return [] }
        let claim = Claim(grant: grant, isReady: true, isQueued: true)
        if hasEnded { return self.claim(claim, takeOver: false) }
        switch takeover.decision(incumbentProgress: progress, now: now) {
        case .refuse: return [.leaveQueue] + refuse(Refusal(.streamKeyInUse), of: grant)
        case .takeOver: return self.claim(claim, takeOver: true)
        case .wait(let delay):
            state = .waiting(grant, incumbent: incumbent, takeover)
            return [.look(after: delay)]
        }
    }

    /// The way for media is open, and its keys are good.
    public mutating func ready() -> [Action] {
        guard case .preparing(let grant, let lease) = state else { return [] }
        guard let lease else { return claim(Claim(grant: grant, isReady: true), takeOver: true) }
        state = .live(grant, lease)
        return [.start(grant, lease)]
    }
}

// MARK: - Ends

extension PublishMachine {
    /// The lease was taken away.
    public mutating func leaseEnded(_ reason: LeaseEnd) -> [Action] {
        if case .claiming(var claim) = state {
            claim.end = reason
            state = .claiming(claim)
        }
        guard let lease else { return [] }
        if case .disconnected(let refusal) = reason { return refused(refusal) }
        defer { state = .over }
        return [.giveWay] + stop() + [.release(lease)]
    }

    /// The publish ends by our decision, whatever it had come to: too much time has passed, or its media breaks the contract.
    public mutating func refused(_ refusal: Refusal) -> [Action] {
        guard let lease else {
            let (queue, grant) = (isQueued ? [Action.leaveQueue] : [], grantWithoutLease)
            return isOver ? [] : queue + refuse(refusal, of: grant)
        }
        return [.fail(lease, refusal)] + refuse(refusal, of: nil, stop()) + [.release(lease)]
    }

    /// The encoder has left, or is to be left without a word.
    public mutating func ended() -> [Action] {
        defer { state = .over }
        return (isQueued ? [.leaveQueue] : []) + stop() + (lease.map { [.release($0)] } ?? [])
    }

    private mutating func refuse(_ refusal: Refusal, of grant: PublishGrant?, _ further: [Action] = []) -> [Action] {
        state = .over
        return [.refuse(refusal, of: grant)] + further
    }

    private func stop() -> [Action] { if case .live = state { [.stop] } else { [] } }

    private var isQueued: Bool {
        switch state {
        case .claiming(let claim): claim.isQueued
        case .waiting: true
        default: false
        }
    }

    private var grantWithoutLease: PublishGrant? {
        switch state {
        case .examining(let grant), .enteringQueue(let grant, _, _), .waiting(let grant, _, _), .preparing(let grant, nil): grant
        case .claiming(let claim): claim.grant
        case .new, .authorizing, .preparing, .live, .over: nil
        }
    }
}
