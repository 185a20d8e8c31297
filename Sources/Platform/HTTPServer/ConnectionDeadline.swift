import EventLoop

/// What a connection is doing, how long it may, and what follows when that time is over.
///
/// It closes nothing and answers nobody: its owner does what it says.
struct ConnectionDeadline {
    enum Phase {
        case idle
        case reading
        /// A request is with the handler.
        case answering
        case streaming
        case closing
    }

    /// What follows.
    enum Outcome {
        /// A client that takes its answers fast enough has as long again.
        case goesOn
        case requestIsLate, answerIsLate
        /// A stream shows that it is still there.
        case keepsAlive
        /// Nothing came, or nothing more.
        case isSilent
        /// The client does not take its last answer.
        case isCutOff
        case rests
    }

    private(set) var phase = Phase.idle
    private var timer: TimerWatch?
    /// Of the last answers, while the timer measures how they are taken.
    private var pace = AnswerPace(untaken: 0, within: .zero)

    /// How long all of its answers may take a client that never is too slow.
    var longestTime: Duration { pace.longestTime }

    /// - Parameter timer: runs already, for the first phase.
    mutating func start(_ timer: TimerWatch) { self.timer = timer }

    /// - Parameter time: from now; nil when the time that runs is for this phase too.
    mutating func enter(_ phase: Phase, for time: Duration? = nil) {
        self.phase = phase
        if let time { rearm(after: time) }
    }

    /// The client has a while for what it has not taken yet.
    mutating func enter(_ phase: Phase, taking untaken: Int, within time: Duration) {
        pace = AnswerPace(untaken: untaken, within: time)
        enter(phase, for: time)
    }

    func rearm(after time: Duration) { timer?.rearm(after: time) }

    /// Nothing follows any more.
    mutating func end() {
        phase = .closing
        timer?.cancel()
    }

    /// The time is over.
    /// - Parameters:
    ///   - untaken: bytes of its answers that the client does not have yet.
    ///   - hasBegun: whether a part of a request is there.
    func passed(untaken: Int, hasBegun: Bool) -> Outcome {
        switch phase {
        case .idle where pace.isEnough(left: untaken), .closing where pace.isEnough(left: untaken): .goesOn
        case .reading where hasBegun: .requestIsLate
        case .answering: .answerIsLate
        case .streaming: .keepsAlive
        case .idle, .reading: .isSilent
        case .closing: untaken > 0 ? .isCutOff : .rests
        }
    }
}
