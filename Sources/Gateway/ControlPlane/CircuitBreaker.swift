import Wire

/// Stops asking a service that keeps failing, and tries it again with one request after a while.
struct CircuitBreaker {
    /// Failures in a row that open it.
    static let threshold = 5
    /// How long it stays open.
    static let pause = Duration.seconds(5)

    private var failures = 0
    private var openUntil: MonotonicTime?

    /// Whether a request may go out now; while open, one each `pause`.
    mutating func admits(at now: MonotonicTime) -> Bool {
        guard let openUntil else { return true }
        guard now >= openUntil else { return false }
        self.openUntil = now + Self.pause
        return true
    }

    mutating func succeeded() { (failures, openUntil) = (0, nil) }

    mutating func failed(at now: MonotonicTime) {
        failures += 1
        if failures >= Self.threshold { openUntil = now + Self.pause }
    }
}
