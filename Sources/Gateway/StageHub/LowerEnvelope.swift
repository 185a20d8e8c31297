public import Wire

/// The least of the values observed in the last 60 seconds: of (arrival − media time) it is the path without queueing.
public struct LowerEnvelope {
    /// Nil before the first value. After a silence longer than the window the last minimum stands until the next value.
    public private(set) var minimum: Int64?
    /// One for each second of the window; none before the first value.
    private var buckets: [Int64] = []
    private var second = Int64.min

    public init() {}

    /// - Parameter value: of either sign; all of one envelope in one unit.
    public mutating func observe(_ value: Int64, at now: MonotonicTime) {
        let current = now.nanoseconds / 1_000_000_000
        if second < current { turn(to: current) }
        if value < buckets[slot(of: second)] { buckets[slot(of: second)] = value }
        if value < minimum ?? .max { minimum = value }
    }

    /// Empties the buckets of the seconds that have left the window.
    private mutating func turn(to current: Int64) {
        if buckets.isEmpty || current - second >= Int64(Self.windowSeconds) {
            buckets = Array(repeating: .max, count: Self.windowSeconds)
        } else {
            for passed in (second + 1)...current { buckets[slot(of: passed)] = .max }
        }
        second = current
        let least = buckets.min() ?? .max
        minimum = least == .max ? nil : least
    }

    private func slot(of second: Int64) -> Int {
        let slot = Int(second % Int64(Self.windowSeconds))
        return slot < 0 ? slot + Self.windowSeconds : slot
    }

    /// Long enough to see an idle moment of any path, short enough to follow a clock 200 ppm off within 12 ms.
    static let windowSeconds = 60
}
