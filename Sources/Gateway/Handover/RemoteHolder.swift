public import Admission
import Synchronization
public import Wire

/// A live publish of the other process, as this one's leases see it. For any thread.
public final class RemoteHolder: LeaseHolder {
    private let progress: Atomic<Int64>
    private let isOver = Atomic<Bool>(false)
    private let onEnd: @Sendable (LeaseEnd) -> Void

    /// - Parameter onEnd: called on any thread; it tells the other process and returns at once.
    public init(progress: MonotonicTime, onEnd: @escaping @Sendable (LeaseEnd) -> Void) {
        self.progress = Atomic(progress.nanoseconds)
        self.onEnd = onEnd
    }

    public var lastProgress: MonotonicTime { MonotonicTime(nanoseconds: progress.load(ordering: .relaxed)) }
    public var hasEnded: Bool { isOver.load(ordering: .acquiring) }

    public func progressed(at time: MonotonicTime) { progress.store(time.nanoseconds, ordering: .relaxed) }
    public func ended() { isOver.store(true, ordering: .releasing) }

    public func end(_ reason: LeaseEnd) { onEnd(reason) }
}
