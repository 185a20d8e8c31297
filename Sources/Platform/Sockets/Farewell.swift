/// The order in which a stream closes: what waits is sent, a pause, close_notify where it speaks TLS, FIN, and time for the
/// peer's. A value without clock or socket: every input returns what comes next, nil where that is waiting.
struct Farewell {
    enum Step: Equatable {
        /// `pauseEnded` is called after so long.
        case pause(Duration)
        /// With TLS the last record says so (close_notify); `flushed` is called when the kernel has it.
        case sayNothingFollows
        /// After that the peer has `maximumLingerTime` for its own.
        case sayFIN
    }

    private enum Stage { case flushing, pausing, sayingNothingFollows, lingering }

    static let maximumLingerTime = Duration.seconds(2)

    private let pause: Duration
    private var stage = Stage.flushing

    /// - Parameter pause: how long the peer may read last words before it sees the end.
    init(pause: Duration) { self.pause = pause }

    /// Everything written is with the kernel.
    mutating func flushed() -> Step? {
        switch stage {
        case .flushing:
            stage = .pausing
            return pause == .zero ? pauseEnded() : .pause(pause)
        case .sayingNothingFollows:
            stage = .lingering
            return .sayFIN
        case .pausing, .lingering: return nil
        }
    }

    mutating func pauseEnded() -> Step? {
        guard stage == .pausing else { return nil }
        stage = .sayingNothingFollows
        return .sayNothingFollows
    }
}
