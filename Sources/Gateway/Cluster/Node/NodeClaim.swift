import Wire

/// A publish that asks for its lease, or those who watch a stage and need one for all of them.
package struct NodeClaim: Sendable {
    package var number: Int
    package var key: LeaseKey
    /// Empty for those who watch, who are no publisher.
    package var set: String
    package var credential: String
    /// The caller has seen the incumbent and may take its place (docs/design.md 7.3).
    package var takesOver: Bool
    /// Its credential is proof enough without the cluster (`ClusterSettings.degraded`).
    package var isToken: Bool

    var phase = Phase.new
    var patienceEnds = MonotonicTime.zero
    /// The generation that the claim may take over.
    var expected: UInt64 = 0
    /// Who holds it, as the server said last.
    var incumbent: RemoteLease?
    var isOwnerSilent = false
    /// When an owner that is silent may be dead at the earliest; nil before the server said when it was heard of.
    var inquiresAt: MonotonicTime?

    enum Phase: Equatable {
        case new
        case marking
        case claiming
        case asking(question: Int)
        case inquiring
        case waiting(until: MonotonicTime)
    }

    package init(number: Int, key: LeaseKey, set: String, credential: String, takesOver: Bool, isToken: Bool) {
        (self.number, self.key, self.set, self.credential) = (number, key, set, credential)
        (self.takesOver, self.isToken) = (takesOver, isToken)
    }

    var waitsUntil: MonotonicTime? { if case .waiting(let until) = phase { until } else { nil } }
}
