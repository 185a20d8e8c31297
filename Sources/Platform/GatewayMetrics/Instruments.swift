import EventLoop
import Synchronization
import Wire

/// A number that only grows, from any thread.
///
/// Where several workers count the same thing often, each counts in a `shard()` of its own, so that no two cores fight over one
/// cache line; the counter's value is the sum.
public final class Counter: Sendable {
    private let own = Atomic<Int>(0)
    private let shards = Lock<[Counter]>([])

    /// Counts from 0.
    public init() {}

    /// Adds to the count. One atomic addition without order: what others see of it may come a little later.
    /// - Parameter amount: not negative.
    @inline(__always)
    public func increment(by amount: Int = 1) { own.wrappingAdd(amount, ordering: .relaxed) }

    /// The sum of this one and its shards, at some moment of the call.
    public var value: Int { shards.withLock { $0 }.reduce(own.load(ordering: .relaxed)) { $0 + $1.value } }

    /// A counter whose value is part of this one's, for one thread. Make it once, when the thread starts.
    public func shard() -> Counter {
        let shard = Counter()
        shards.withLock { $0.append(shard) }
        return shard
    }
}

/// A number that goes up and down, from any thread.
public final class Gauge: Sendable {
    private let bits = Atomic<UInt64>(0)

    /// Begins at 0.
    public init() {}

    /// As of the last change.
    public var value: Double { Double(bitPattern: bits.load(ordering: .relaxed)) }

    /// Puts another value in its place.
    public func set(_ value: Double) { bits.store(value.bitPattern, ordering: .relaxed) }

    /// Adds to the value; a negative amount takes away.
    public func add(_ amount: Double) {
        var old = bits.load(ordering: .relaxed)
        while true {
            let new = (Double(bitPattern: old) + amount).bitPattern
            let (exchanged, original) = bits.weakCompareExchange(expected: old, desired: new, ordering: .relaxed)
            if exchanged { return }
            old = original
        }
    }

    /// Adds 1.
    public func increment() { add(1) }
    /// Takes 1 away.
    public func decrement() { add(-1) }
}

/// How often a value fell into each of a few ranges, from any thread.
public final class Histogram: Sendable {
    /// The upper bounds, ascending; the last range has none.
    public let bounds: [Double]
    private let counts: [Counter]
    private let sum = Gauge()

    /// - Parameter bounds: ascending; at most 20, since each is one time series.
    public init(bounds: [Double]) {
        precondition(bounds.count <= 20 && zip(bounds, bounds.dropFirst()).allSatisfy(<), "bounds are constants of ours")
        self.bounds = bounds
        counts = (0...bounds.count).map { _ in Counter() }
    }

    /// Counts one value, in the unit of the bounds.
    public func observe(_ value: Double) {
        let index = bounds.firstIndex { value <= $0 } ?? bounds.count
        counts[index].increment()
        sum.add(value)
    }

    /// Observes a duration in seconds, the unit of every time in our metrics.
    public func observe(_ duration: Duration) { observe(duration.inSeconds) }

    /// Per range the number of values at or below its bound, then all; and their sum.
    public var snapshot: (cumulativeCounts: [Int], sum: Double) {
        var total = 0
        let cumulative = counts.map { count in
            total += count.value
            return total
        }
        return (cumulative, sum.value)
    }

    /// 1 ms to 10 s: requests, handshakes and set-up steps.
    public static let setupSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
    /// 0.25 to 16 ms, with the 4 ms that handshakes may take: turns of a loop.
    public static let turnSeconds = [0.000_25, 0.000_5, 0.001, 0.002, 0.004, 0.008, 0.016]
    /// 10 µs to 1 s: what happens within one process.
    public static let loopSeconds = [0.00001, 0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1]
}
