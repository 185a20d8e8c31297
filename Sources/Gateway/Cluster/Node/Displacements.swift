import Settings
import Wire

/// Decides who tells the history that a lease is over, where this node was granted another one in its place.
///
/// A node that had answered a moment before tells it itself. If it dies before it can, nobody else knows what it held: so this
/// node tells the history as well, a little later.
struct Displacements: Sendable {
    private struct Displacement {
        let lease: EndedLease
        let toldAt: MonotonicTime
    }

    private let nodeID: String
    private let renewalInterval: Duration
    /// In the order in which they are told.
    private var displacements: [Displacement] = []

    init(_ settings: NodeSettings) { (nodeID, renewalInterval) = (settings.nodeID, settings.cluster.renewalInterval) }

    var deadline: MonotonicTime? { displacements.first?.toldAt }

    /// What follows for the lease that was there, before the history hears of the new one. A lease that it had displaced itself
    /// is closed with it: if the answer to its claim was lost, nobody knows of that one.
    /// - Parameters:
    ///   - isHeldHere: whether a lease of the participant is known here.
    ///   - isThere: whether the node that had it has just answered.
    mutating func follow(
        _ displaced: ClusterAnswer.Displaced, by lease: LeaseIdentity, isHeldHere: Bool, isThere: Bool, _ now: MonotonicTime
    ) -> [ClusterAction] {
        let closed = ClusterAction.closed(stage: lease.key.stageID, [displaced.lease])
        if displaced.node == nodeID {
            // A publish that is known here goes on under the new lease, and who watches was displaced by nobody.
            return isHeldHere || lease.key.isAudience ? [] : [closed]
        }
        let takenOver = ClusterAction.send(.takenOver(lease), to: displaced.node)
        // A node that is there tells the history itself: receivers of events are not to hear it from both.
        guard isThere else { return [closed, takenOver] }
        add(displaced.lease, now)
        return [takenOver]
    }

    mutating func add(_ lease: EndedLease, _ now: MonotonicTime) {
        displacements.append(Displacement(lease: lease, toldAt: now + renewalInterval + Self.reading))
    }

    mutating func tellDue(_ now: MonotonicTime) -> [ClusterAction] {
        let due = displacements.prefix { now >= $0.toldAt }
        displacements.removeFirst(due.count)
        return due.map { .closed(stage: $0.lease.lease.key.stageID, [$0.lease]) }
    }

    /// This long after its next renewal, a node has told the history what it lost, or is dead.
    static let reading = Duration.seconds(1)
}
