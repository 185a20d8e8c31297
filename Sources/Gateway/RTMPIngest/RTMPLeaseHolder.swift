import Admission
import Synchronization
import Wire

/// A live RTMP publish as other threads see it.
final class RTMPLeaseHolder: LeaseHolder {
    private let progress: Atomic<Int64>
    private let isOver = Atomic<Bool>(false)
    private let onEnd: @Sendable (LeaseEnd) -> Void

    /// - Parameter onEnd: called on any thread; it sends the reason to the holder's worker.
    init(began: MonotonicTime, onEnd: @escaping @Sendable (LeaseEnd) -> Void) {
        progress = Atomic(began.nanoseconds)
        self.onEnd = onEnd
    }

    var lastProgress: MonotonicTime { MonotonicTime(nanoseconds: progress.load(ordering: .relaxed)) }

    var hasEnded: Bool { isOver.load(ordering: .acquiring) }
    /// Called after the lease was given back.
    func ended() { isOver.store(true, ordering: .releasing) }

    /// A frame with advancing media time is complete.
    func progressed(at now: MonotonicTime) { progress.store(now.nanoseconds, ordering: .relaxed) }

    func end(_ reason: LeaseEnd) { onEnd(reason) }
}
