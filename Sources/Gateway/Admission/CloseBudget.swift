import Synchronization

/// How many streams may be ended now, shared by the workers that end them: each takes all, and gives back what it has not used.
public final class CloseBudget: Sendable {
    private let count = Atomic<Int>(0)

    public init() {}

    /// Allows exactly so many; what nobody took of an earlier turn lapses.
    public func allow(_ count: Int) { self.count.store(count, ordering: .relaxed) }

    /// Ends up to as many streams as are allowed.
    /// - Parameter end: gets the greatest number, answers how many it ended.
    public func spend(_ end: (Int) -> Int) {
        let allowed = count.exchange(0, ordering: .relaxed)
        guard allowed > 0 else { return }
        count.add(allowed - end(allowed), ordering: .relaxed)
    }
}
