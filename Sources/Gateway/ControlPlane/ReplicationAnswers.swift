import EventLoop
import Store
import Wire

/// Keeps those who wait to hear what becomes of a replication they asked for: the node that has the publisher says so in its
/// record. For any thread.
final class ReplicationAnswers: Sendable {
    enum Outcome: Equatable {
        case active
        /// By the number of a `RefusalCode`.
        case refused(by: Int)
        /// It was stopped, or the publisher left, before it began.
        case gone
        /// Nobody has acted on it in time.
        case unanswered
    }

    private struct Waiter {
        var key: Replication.Key
        var number: String
        var deadline: MonotonicTime
        var then: @Sendable (Outcome) -> Void
    }

    /// A node that is alive answers in milliseconds, but for one that has far more to do than it can; clients wait for a minute.
    static let patience = Duration.seconds(20)
    private let waiting = Lock<[Waiter]>([])

    init(_ observers: StateObservers) {
        observers.add { [weak self] state in self?.stateChanged(state) }
    }

    /// - Parameter state: one that has the record already.
    func wait(for replication: Replication, in state: @autoclosure () -> StoreState, then: @escaping @Sendable (Outcome) -> Void)
    {
        let waiter = Waiter(
            key: replication.key, number: replication.number, deadline: EventLoop.monotonicNow() + Self.patience, then: then)
        waiting.withLock { $0.append(waiter) }
        // What was answered before is not missed.
        stateChanged(state())
    }

    private func stateChanged(_ state: StoreState) {
        take { Self.outcome(of: state.replications[$0.key], $0.number) }
    }

    func expire(at now: MonotonicTime) { take { now >= $0.deadline ? .unanswered : nil } }

    private func take(_ outcome: (Waiter) -> Outcome?) {
        let over = waiting.withLock { waiting in
            let over = waiting.compactMap { waiter in outcome(waiter).map { (waiter, $0) } }
            waiting.removeAll { waiter in over.contains { $0.0.number == waiter.number } }
            return over
        }
        for (waiter, outcome) in over { waiter.then(outcome) }
    }

    private static func outcome(of record: Replication?, _ number: String) -> Outcome? {
        guard let record, record.number == number else { return .gone }
        return switch record.state {
        case .starting: nil
        case .active: .active
        case .refused: .refused(by: record.refusedBy)
        case .stopped: .gone
        }
    }
}
