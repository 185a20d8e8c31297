import Synchronization
public import Wire

/// Since when a loop has been in its turn, for other threads: a loop that waits is well, and need not wake up to say so.
public final class LoopPulse: Sendable {
    /// 0 between turns.
    private let nanoseconds = Atomic<Int64>(0)

    /// When the turn began that the loop is in; nil while it waits.
    public var turnStart: MonotonicTime? {
        let start = nanoseconds.load(ordering: .relaxed)
        return start == 0 ? nil : MonotonicTime(nanoseconds: start)
    }

    func turnBegins(at now: MonotonicTime) { nanoseconds.store(now.nanoseconds, ordering: .relaxed) }
    func turnEnds() { nanoseconds.store(0, ordering: .relaxed) }
}
