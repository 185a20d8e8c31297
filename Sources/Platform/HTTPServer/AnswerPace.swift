import Wire

/// How a client takes its answer: it has a while for it, and as long again as often as it took enough of it in that time.
struct AnswerPace {
    /// Bytes a second below which it is cut off: nobody keeps a long answer in our memory for as long as it likes.
    static let slowestRate = 16 * 1024

    /// What the client did not have when the time began.
    private let untaken: Int
    private let period: Duration

    /// - Parameters:
    ///   - untaken: bytes that the client does not have yet.
    ///   - period: the while that the client has.
    init(untaken: Int, within period: Duration) { (self.untaken, self.period) = (untaken, period) }

    /// How long all of it may take a client that never is too slow.
    var longestTime: Duration { period + .milliseconds(untaken * 1_000 / Self.slowestRate) }

    /// Whether a client that has not taken everything when the time is over gets as long again.
    /// - Parameter left: bytes that it still does not have.
    func isEnough(left: Int) -> Bool {
        left > 0 && untaken - left >= max(1, Int(period.milliseconds) * Self.slowestRate / 1_000)
    }
}
