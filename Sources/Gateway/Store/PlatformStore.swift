/// What all gateways of a platform agree on (docs/design.md 7.4): configuration by transactions, history by appended events.
///
/// Reading the configuration never waits. Everything else is answered later, on the store's thread, exactly once.
public protocol PlatformStore: Sendable {
    /// The last committed configuration.
    var state: PlatformState { get }

    /// Runs `body` after all transactions before it; replies once its changes are durable and visible in `state`.
    ///
    /// What `body` throws is the reply, and nothing of it is kept.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (inout StateTransaction) throws -> Value,
        reply: @escaping @Sendable (Result<Value, any Error>) -> Void)

    /// Appends to the history; never waits. Beyond the store's bound they are dropped and counted.
    func record(_ writes: [HistoryWrite])

    /// Asks the history.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any HistoryReading) throws -> Value,
        reply: @escaping @Sendable (Result<Value, any Error>) -> Void)
}
