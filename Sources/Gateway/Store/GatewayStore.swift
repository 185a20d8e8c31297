/// What one gateway keeps, or all of a cluster agree on (docs/design.md 7.4): configuration by transactions, history by
/// appended events.
///
/// Reading the configuration never waits. Everything else is answered later, on the store's thread, exactly once.
public protocol GatewayStore: Sendable {
    /// The last committed configuration.
    var state: StoreState { get }

    /// Runs `body` after all transactions before it; replies once its changes are durable and visible in `state`.
    ///
    /// What `body` throws is the reply, and nothing of it is kept.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (inout StateTransaction) throws -> Value,
        reply: @escaping @Sendable (Result<Value, any Error>) -> Void)

    /// Appends to the history; never waits. What is beyond the store's bound is dropped.
    func record(_ writes: [HistoryWrite])

    /// Asks the history.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any HistoryReading) throws -> Value,
        reply: @escaping @Sendable (Result<Value, any Error>) -> Void)
}

/// Why the store could not do what was asked.
public enum StoreError: Error, Equatable, Sendable, CustomStringConvertible {
    case cannotOpen(path: String, reason: String)
    /// The queue of waiting requests is full.
    case overloaded
    case closed
    /// The cluster's database does not answer for now. Whether it kept a write under way is not known.
    case away
    /// SQLite refused, for example because the disk is full; nothing of the request was kept.
    case failed(reason: String)

    public var description: String {
        switch self {
        case .cannotOpen(let path, let reason): "cannot open \(path): \(reason)"
        case .overloaded: "too many requests wait for the store"
        case .closed: "the store is closed"
        case .away: "the cluster's database does not answer"
        case .failed(let reason): "the store failed: \(reason)"
        }
    }
}
