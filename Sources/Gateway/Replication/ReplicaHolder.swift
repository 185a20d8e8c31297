import Admission
import Synchronization
import Wire

/// A replica as the leases of its destination see it. For any thread.
final class ReplicaHolder: LeaseHolder {
    /// Of the replication that it stands for.
    let number: String
    private let progress = Atomic<Int64>(0)
    private let isOver = Atomic<Bool>(false)
    private let onEnd: @Sendable (LeaseEnd) -> Void

    /// - Parameter onEnd: called on any thread; it sends the reason to the replica's worker.
    init(number: String, at now: MonotonicTime, onEnd: @escaping @Sendable (LeaseEnd) -> Void) {
        (self.number, self.onEnd) = (number, onEnd)
        progressed(at: now)
    }

    var lastProgress: MonotonicTime { MonotonicTime(nanoseconds: progress.load(ordering: .relaxed)) }
    var hasEnded: Bool { isOver.load(ordering: .acquiring) }

    func progressed(at now: MonotonicTime) { progress.store(now.nanoseconds, ordering: .relaxed) }
    /// Called after the lease was given back.
    func ended() { isOver.store(true, ordering: .releasing) }

    func end(_ reason: LeaseEnd) { onEnd(reason) }
}
