import Synchronization
public import Wire

/// A live publish of another process or node, as this one's leases and claims see it. For any thread.
public final class RemoteHolder: LeaseHolder {
    private let progress: Atomic<Int64>
    private let isOver = Atomic<Bool>(false)
    private let onEnd: @Sendable (LeaseEnd) -> Void
    private let onForgotten: @Sendable () -> Void

    /// - Parameter onEnd: called on any thread; it passes the word on and returns at once.
    /// - Parameter onForgotten: called on any thread once nobody looks at this holder any more.
    public init(
        progress: MonotonicTime, onEnd: @escaping @Sendable (LeaseEnd) -> Void, onForgotten: @escaping @Sendable () -> Void = {}
    ) {
        self.progress = Atomic(progress.nanoseconds)
        (self.onEnd, self.onForgotten) = (onEnd, onForgotten)
    }

    deinit { onForgotten() }

    public var lastProgress: MonotonicTime { MonotonicTime(nanoseconds: progress.load(ordering: .relaxed)) }
    public var hasEnded: Bool { isOver.load(ordering: .acquiring) }

    /// Its own process or node says so.
    public func progressed(at time: MonotonicTime) { progress.store(time.nanoseconds, ordering: .relaxed) }
    public func ended() { isOver.store(true, ordering: .releasing) }

    public func end(_ reason: LeaseEnd) { onEnd(reason) }
}
