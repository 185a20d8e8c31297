import Wire

/// What becomes of a publish on a key that somebody else holds (docs/design.md 7.3). A value without a clock.
struct Takeover: Equatable {
    enum Decision: Equatable {
        /// The incumbent has completed another frame: it is alive.
        case refuse
        /// The incumbent has been silent for long enough.
        case takeOver
        case wait(Duration)
    }

    let began: MonotonicTime
    let silence: Duration
    private var pollInterval = Self.firstPollInterval

    init(began: MonotonicTime, silence: Duration) { (self.began, self.silence) = (began, silence) }

    mutating func decision(incumbentProgress: MonotonicTime, now: MonotonicTime) -> Decision {
        if incumbentProgress > began { return .refuse }
        let silent = now - incumbentProgress
        if silent >= silence { return .takeOver }
        defer { pollInterval = min(pollInterval * 2, Self.longestPollInterval) }
        return .wait(min(pollInterval, silence - silent))
    }

    /// When the incumbent is looked at. One of this process says when it ends, others do not: soon at first, because an encoder
    /// that connects anew at once is often only milliseconds ahead of its former connection's end; then ever more seldom.
    static let firstPollInterval = Duration.milliseconds(1)
    static let longestPollInterval = Duration.milliseconds(50)
}
