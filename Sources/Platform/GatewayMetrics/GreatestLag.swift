import Synchronization
import Wire

/// The greatest lateness that loops have told since somebody last asked. For any thread.
public final class GreatestLag: Sendable {
    private let nanoseconds = Atomic<Int64>(0)

    public init() {}

    public func note(_ lag: Duration) { nanoseconds.max(lag.nanoseconds, ordering: .relaxed) }

    public func take() -> Duration { .nanoseconds(nanoseconds.exchange(0, ordering: .relaxed)) }
}
