/// How often something may happen: so many times at once, and once more in each interval. A value without clock.
///
///     var allowance = Allowance(200, then: .milliseconds(20))  // 200 in a burst, 50 a second
///     guard allowance.take(at: loop.now) else { return refuse() }
public struct Allowance: Equatable, Sendable {
    /// Nanoseconds in which one more is earned.
    private let interval: Int64
    /// What is earned and not taken, in the nanoseconds that it took to earn, and the most that is kept.
    private var credit: Int64
    private let maximumCredit: Int64
    private var earnedAt = MonotonicTime.zero

    /// - Parameters:
    ///   - burst: as many at once, at most; 1 and more.
    ///   - interval: a nanosecond and more; `burst` of them are below 292 years.
    public init(_ burst: Int, then interval: Duration) {
        self.interval = max(1, interval.nanoseconds)
        maximumCredit = Int64(burst) * self.interval
        credit = maximumCredit
    }

    /// Takes one, or several together.
    /// - Returns: false, with nothing taken, where fewer are left.
    public mutating func take(_ count: Int = 1, at now: MonotonicTime) -> Bool {
        earn(by: now)
        guard credit >= Int64(count) * interval else { return false }
        credit -= Int64(count) * interval
        return true
    }

    /// Takes what is left, `count` at most.
    public mutating func spend(_ count: Int, at now: MonotonicTime) {
        earn(by: now)
        credit = max(0, credit - Int64(count) * interval)
    }

    /// What was taken last did not happen.
    public mutating func giveBack() { credit = min(maximumCredit, credit + interval) }

    private mutating func earn(by now: MonotonicTime) {
        // In whole numbers of 64 bits: a `Duration` has 128, and packets are counted by this too.
        let earned = max(0, now.nanoseconds.subtractingSaturating(earnedAt.nanoseconds))
        credit = min(maximumCredit, credit.addingSaturating(earned))
        earnedAt = now
    }
}
