import EventLoop
import Store

/// The line in front of the store's thread, from any other thread. Bounded.
final class StoreDoor: Sendable {
    enum Request: Sendable {
        /// To be answered exactly once, by one of both.
        case question(@Sendable (Platform) -> Void, refuse: @Sendable (StoreError) -> Void)
        /// The local queue has grown.
        case historyWaits
        case queue(Result<PlatformQueue, any Error>)
    }

    private struct Line {
        var requests: [Request] = []
        var questions = 0
        var wake: MailboxSender<Void>?
        var isClosed = false
    }

    private let line = Lock(Line())

    var isClosed: Bool { line.withLock { $0.isClosed } }

    func ask(_ question: @escaping @Sendable (Platform) -> Void, refuse: @escaping @Sendable (StoreError) -> Void) {
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

    /// What no caller waits for: after closing it goes nowhere.
    func send(_ request: Request) {
        line.withLock { if !$0.isClosed { $0.requests.append(request) } }
        wake()
    }

    /// Takes nothing more; what waits is carried out.
    func close() {
        line.withLock { $0.isClosed = true }
        wake()
    }

    /// All that waits, in its order.
    func take() -> [Request] {
        line.withLock { line in
            let requests = line.requests
            (line.requests, line.questions) = ([], 0)
            return requests
        }
    }

    /// The thread has a loop that can be woken; from now on `wake` does.
    func opened(_ sender: MailboxSender<Void>) { line.withLock { $0.wake = sender } }

    private func wake() { line.withLock { $0.wake }?.send(()) }
}
