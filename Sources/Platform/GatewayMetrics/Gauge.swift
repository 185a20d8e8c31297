import Synchronization

/// A number that goes up and down, from any thread.
public final class Gauge: Sendable {
    private let bits = Atomic<UInt64>(0)

    public init() {}

    public var value: Double { Double(bitPattern: bits.load(ordering: .relaxed)) }

    public func set(_ value: Double) { bits.store(value.bitPattern, ordering: .relaxed) }

    public func add(_ amount: Double) {
        var old = bits.load(ordering: .relaxed)
        while true {
            let new = (Double(bitPattern: old) + amount).bitPattern
            let (exchanged, original) = bits.weakCompareExchange(expected: old, desired: new, ordering: .relaxed)
            if exchanged { return }
            old = original
        }
    }

    public func increment() { add(1) }
    public func decrement() { add(-1) }
}
