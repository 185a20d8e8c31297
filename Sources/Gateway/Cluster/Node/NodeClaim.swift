import Wire

/// A publish that asks for its lease, or those who watch a stage and need one for all of them.
struct NodeClaim: Sendable {
    /// Tells claims apart; the answer comes under it.
    var number: Int
    var key: LeaseKey
    /// Which of the stage's publishers it counts as: the encoders of one ingest configuration are one. Empty for those who watch.
    var set: String
    /// A hash: the same encoder comes back with the same one. Empty for those who watch.
    var credential: String
    /// The caller has seen the incumbent and may take its place (docs/design.md 7.3).
    var takesOver: Bool
    /// Its credential is proof enough without the cluster (`ClusterSettings.degraded`).
    var isToken: Bool

    var phase = Phase.new
    /// When a claim that still waits is refused.
    var patienceEnds = MonotonicTime.zero
    /// The generation that the claim may take over.
    var expected: UInt64 = 0
    /// Who holds it, as the server said last.
    private(set) var incumbent: RemoteLease?
    private(set) var isOwnerSilent = false
    /// When an owner that is silent may be dead at the earliest; nil before the server said when it was heard of.
    private(set) var inquiresAt: MonotonicTime?

    enum Phase: Equatable {
        case new
        /// Its stage is being added to those of this node.
        case marking
        /// The server is asked for the lease.
        case claiming
        /// The owner of the lease is asked whether it still has it.
        case asking(question: Int)
        /// The server is asked when that owner, who is silent, was last heard of.
        case inquiring
        case waiting(until: MonotonicTime)
    }

    init(number: Int, key: LeaseKey, set: String, credential: String, takesOver: Bool, isToken: Bool) {
        (self.number, self.key, self.set, self.credential) = (number, key, set, credential)
        (self.takesOver, self.isToken) = (takesOver, isToken)
    }

    var waitsUntil: MonotonicTime? { if case .waiting(let until) = phase { until } else { nil } }

    /// A waiting claim asks again that often, and at the moment when the lease ends.
    static let retryInterval = Duration.seconds(1)
    /// Clocks tick in milliseconds, and not all alike.
    private static let tick = Duration.milliseconds(10)
}

// MARK: - The owner of the lease

extension NodeClaim {
    /// - Parameter question: the number of the question whether it still has the lease.
    mutating func asks(_ owner: RemoteLease, question: Int) {
        (incumbent, isOwnerSilent, inquiresAt) = (owner, false, nil)
        phase = .asking(question: question)
    }

    /// The owner that was asked this question; nil if the claim no longer waits for its answer.
    func owner(askedBy question: Int) -> RemoteLease? { phase == .asking(question: question) ? incumbent : nil }

    /// The owner did not answer: the server is asked when it was last heard of.
    mutating func ownerIsSilent() { isOwnerSilent = true }

    /// How long to wait before it asks for the lease again; nil where its owner has to be asked first.
    /// - Parameter remaining: so long the lease lives on if nobody renews it; zero where it has ended, and
    ///   is kept for its node's return.
    func pause(for owner: RemoteLease, _ remaining: Duration, _ now: MonotonicTime) -> Duration? {
        guard isOwnerSilent, incumbent == owner else { return nil }
        let rest = remaining > .zero ? remaining : Self.retryInterval
        return min(Self.retryInterval, rest, inquiresAt.map { $0 - now } ?? Self.retryInterval)
    }

    /// The server has said when the owner was last heard of.
    /// - Parameters:
    ///   - age: how long ago; nil where the server does not know it.
    ///   - silence: after which a node is dead.
    ///   - trust: from when on it is the node that is silent, and not the server.
    /// - Returns: the generation of its lease if it is dead, 0 if it may be alive.
    mutating func ownerWasHeard(_ age: Duration?, silence: Duration, trust: MonotonicTime, _ now: MonotonicTime) -> UInt64 {
        if let age, age >= silence, now >= trust { return incumbent?.lease.generation ?? 0 }
        let deathAt = now + max(.zero, silence - (age ?? .zero)) + Self.tick
        // It was to be dead by now, and has been heard of since: what it said to us was lost.
        let livesOn = inquiresAt != nil && age.map { $0 < silence } == true
        isOwnerSilent = !livesOn
        inquiresAt = livesOn ? nil : max(deathAt, trust)
        return 0
    }
}
