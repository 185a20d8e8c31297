import EventLoop

/// A dictionary in 16 parts, each behind a mutex of its own, held for one access.
public final class ShardedTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let shards = (0..<16).map { _ in Lock<[Key: Value]>([:]) }

    public init() {}

    /// One access of its own: what was read may have changed by the next one.
    public subscript(key: Key) -> Value? {
        get { shard(key).withLock { $0[key] } }
        set { shard(key).withLock { $0[key] = newValue } }
    }

    /// Of all parts, each at a moment of its own.
    public var count: Int { shards.reduce(0) { $0 + $1.withLock { $0.count } } }

    private func shard(_ key: Key) -> Lock<[Key: Value]> { shards[key.hashValue & 15] }
}
