import EventLoop
import Wire

/// At most 200 packets a second and worker are tried without a validated tuple (design note 17).
struct RebindingBudget {
    private var windowStart: MonotonicTime = .zero
    private var count = 0

    mutating func allows(_ now: MonotonicTime) -> Bool {
        if now - windowStart >= .seconds(1) { (windowStart, count) = (now, 0) }
        count += 1
        return count <= Self.maximumPerSecond
    }

    static let maximumPerSecond = 200
}

/// A worker spends at most 4 ms in any 20 ms on DTLS handshakes; what is refused comes again, since DTLS retransmits.
struct HandshakeBudget {
    private var windowStart: MonotonicTime = .zero
    private var spent: Duration = .zero

    mutating func allows(_ now: MonotonicTime) -> Bool {
        if now - windowStart >= Self.window { (windowStart, spent) = (now, .zero) }
        return spent < Self.share
    }

    /// Runs one step of a handshake and counts its time.
    mutating func charge(_ start: MonotonicTime) { spent += EventLoop.monotonicNow() - start }

    static let window: Duration = .milliseconds(20)
    static let share: Duration = .milliseconds(4)
}
