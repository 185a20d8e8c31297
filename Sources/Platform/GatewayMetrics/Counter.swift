import EventLoop
import Synchronization

/// A number that only grows, from any thread.
///
/// Where several workers count the same thing often, each counts in a `shard()` of its own, so that no two cores fight over one
/// cache line; the counter's value is the sum.
public final class Counter: Sendable {
    private let own = Atomic<Int>(0)
    private let shards = Lock<[Counter]>([])

    public init() {}

    @inline(__always)
    public func increment(by amount: Int = 1) { own.wrappingAdd(amount, ordering: .relaxed) }

    public var value: Int { shards.withLock { $0 }.reduce(own.load(ordering: .relaxed)) { $0 + $1.value } }

    /// A counter whose value is part of this one's, for one thread. Make it once, when the thread starts.
    public func shard() -> Counter {
        let shard = Counter()
        shards.withLock { $0.append(shard) }
        return shard
    }
}
