import EventLoop
import Store

/// The line in front of the store's thread, from any other thread. Bounded.
final class StoreInbox: Sendable {
    enum Request: Sendable {
        /// To be answered exactly once, by one of both.
        case question(@Sendable (ClusterDatabase) -> Void, refuse: @Sendable (StoreError) -> Void)
        /// The beginning of the local queue.
        case queue(Result<HistoryQueue, any Error>)
    }

    private struct Line {
        var requests: [Request] = []
        var questions = 0
        var historyWaits = false
        var wake: MailboxSender<Void>?
        var isClosed = false
    }

    private let line = Lock(Line())

    var isClosed: Bool { line.withLock { $0.isClosed } }

    func ask(_ question: @escaping @Sendable (ClusterDatabase) -> Void, refuse: @escaping @Sendable (StoreError) -> Void) {
        let reason: StoreError? = line.withLock { line in
            if line.isClosed { return .closed }
            guard line.questions < RedisStore.maximumWaiting else { return .overloaded }
            line.questions += 1
            line.requests.append(.question(question, refuse: refuse))
            return nil
        }
        guard let reason else { return wake() }
        refuse(reason)
    }

    /// What was asked for of the local queue; after closing it goes nowhere.
    func send(_ queue: Result<HistoryQueue, any Error>) {
        line.withLock { if !$0.isClosed { $0.requests.append(.queue(queue)) } }
        wake()
    }

    /// The local queue has grown.
    func historyWaits() {
        line.withLock { $0.historyWaits = true }
        wake()
    }

    /// Takes nothing more; what waits is carried out.
    func close() {
        line.withLock { $0.isClosed = true }
        wake()
    }

    /// All that waits, in its order, and whether the local queue has grown.
    func take() -> (requests: [Request], historyWaits: Bool) {
        line.withLock { line in
            let taken = (line.requests, line.historyWaits)
            (line.requests, line.questions, line.historyWaits) = ([], 0, false)
            return taken
        }
    }

    /// The thread has a loop that can be woken; from now on `wake` does.
    func opened(_ sender: MailboxSender<Void>) { line.withLock { $0.wake = sender } }

    private func wake() { line.withLock { $0.wake }?.send(()) }
}
