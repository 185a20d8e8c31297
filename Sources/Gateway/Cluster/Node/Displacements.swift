import Settings
import Wire

/// Leases that were taken over of nodes which had answered a moment before, and so tell the history themselves that they are over.
///
/// Should such a node die meanwhile, nobody else knows any more what it held: the history is told for it a little later.
struct Displacements: Sendable {
    private struct Displacement {
        let lease: EndedLease
        let toldAt: MonotonicTime
    }

    /// So long after its next renewal a node has told the history what it has lost, or is dead.
    static let reading = Duration.seconds(1)

    private let renewalInterval: Duration
    /// In the order in which they are told.
    private var displacements: [Displacement] = []

    init(_ settings: NodeSettings) { renewalInterval = settings.cluster.renewalInterval }

    var deadline: MonotonicTime? { displacements.first?.toldAt }

    mutating func add(_ lease: EndedLease, _ now: MonotonicTime) {
        displacements.append(Displacement(lease: lease, toldAt: now + renewalInterval + Self.reading))
    }

    mutating func tellDue(_ now: MonotonicTime) -> [ClusterAction] {
        let due = displacements.prefix { now >= $0.toldAt }
        displacements.removeFirst(due.count)
        return due.map { .closed(stage: $0.lease.lease.key.stageID, [$0.lease]) }
    }
}
