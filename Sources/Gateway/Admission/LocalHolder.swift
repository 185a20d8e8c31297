import Synchronization
public import Wire

/// A publish of this process, as leases and claims see it from its first claim on. For any thread.
public final class LocalHolder: LeaseHolder {
    /// The number of the replication that it stands for; nil for a publish of its own.
    public let replication: String?
    private let progress = Atomic<Int64>(0)
    private let isOver = Atomic<Bool>(false)
    private let onEnd: @Sendable (LeaseEnd) -> Void

    /// - Parameter onEnd: called on any thread; it sends the reason to the publish's worker and returns at once.
    public init(replication: String? = nil, onEnd: @escaping @Sendable (LeaseEnd) -> Void) {
        (self.replication, self.onEnd) = (replication, onEnd)
    }

    public var lastProgress: MonotonicTime { MonotonicTime(nanoseconds: progress.load(ordering: .relaxed)) }
    public var hasEnded: Bool { isOver.load(ordering: .acquiring) }

    /// A frame with advancing media time is complete.
    public func progressed(at now: MonotonicTime) { progress.store(now.nanoseconds, ordering: .relaxed) }
    /// Called after the lease was given back.
    public func ended() { isOver.store(true, ordering: .releasing) }

    public func end(_ reason: LeaseEnd) { onEnd(reason) }
}
