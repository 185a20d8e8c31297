public import EventLoop

/// Reading the history from a loop: answers come back on that loop. Confined to it.
public final class StoreClient {
    private let store: any GatewayStore
    private let replies: ReplyBox

    /// - Throws: when the system gives no more descriptors.
    public init(loop: EventLoop, store: any GatewayStore) throws(SystemError) {
        self.store = store
        replies = try ReplyBox(loop: loop)
    }

    /// Calls `then` on the loop with what `body` found, or nil when the store failed or too much is being read.
    public func read<Value: Sendable>(
        _ body: @escaping @Sendable (any HistoryReading) throws -> Value, then: @escaping (Value?) -> Void
    ) {
        replies.ask { reply in
            store.read(body) { reply($0) }
        } then: { (result: Result<Value, any Error>?) in
            then(try? result?.get())
        }
    }
}
