public import EventLoop

/// Reading the history from a loop: answers come back on that loop. Confined to it.
public final class StoreClient {
    private struct Answer: Sendable {
        var number: Int
        var value: any Sendable
    }

    private let store: any PlatformStore
    private var waiting: [Int: (any Sendable) -> Void] = [:]
    private var lastNumber = 0
    private var mailbox: Mailbox<Answer>?

    /// - Throws: when the system gives no more descriptors.
    public init(loop: EventLoop, store: any PlatformStore) throws(SystemError) {
        self.store = store
        mailbox = try Mailbox(loop: loop) { [unowned self] in waiting.removeValue(forKey: $0.number)?($0.value) }
    }

    /// Calls `then` on the loop with what `body` found, or nil when the store failed.
    public func read<Value: Sendable>(
        _ body: @escaping @Sendable (any HistoryReading) throws -> Value, then: @escaping (Value?) -> Void
    ) {
        lastNumber += 1
        let (number, sender) = (lastNumber, mailbox?.sender)
        waiting[number] = { then($0 as? Value) }
        store.read(body) { result in
            switch result {
            case .success(let value): sender?.send(Answer(number: number, value: value))
            case .failure: sender?.send(Answer(number: number, value: Failed()))
            }
        }
    }

    private struct Failed: Sendable {}
}
