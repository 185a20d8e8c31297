public import Wire

/// How much of a loop's time handshakes may take: 4 ms in any 20 ms. Sans-IO.
///
/// A P-256 handshake is half a millisecond of CPU that any stranger can ask for; media on the same loop must not wait for a
/// crowd of them.
public struct HandshakeBudget: Sendable {
    public static let window = Duration.milliseconds(20)
    public static let share = Duration.milliseconds(4)
    /// What one step may cost: it begins only when that much is left.
    public static let typicalCost = Duration.microseconds(500)

    private var spendings: [(moment: MonotonicTime, cost: Duration)] = []
    private var spent = Duration.zero

    public init() {}

    /// Whether a step may begin now.
    public mutating func isOpen(at now: MonotonicTime) -> Bool {
        forget(before: now - Self.window)
        return spent + Self.typicalCost <= Self.share
    }

    /// Notes the CPU time of a step that has ended now.
    public mutating func spend(_ cost: Duration, at now: MonotonicTime) {
        spendings.append((now, cost))
        spent += cost
    }

    /// When the next step may begin.
    public func opening(after now: MonotonicTime) -> MonotonicTime {
        var left = spent
        for (moment, cost) in spendings {
            if left + Self.typicalCost <= Self.share { return now }
            left -= cost
            if left + Self.typicalCost <= Self.share { return max(now, moment + Self.window) }
        }
        return now
    }

    private mutating func forget(before moment: MonotonicTime) {
        var old = 0
        while old < spendings.count, spendings[old].moment <= moment {
            spent -= spendings[old].cost
            old += 1
        }
        spendings.removeFirst(old)
    }
}
