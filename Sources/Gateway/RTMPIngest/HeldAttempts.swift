import EventLoop
import Wire

/// Counts the publish attempts that wait on live keys, process-wide: at most two on one (DESIGN.md 7, O41).
public final class HeldAttempts: Sendable {
    static let maximumPerParticipant = 2

    private let counts = Lock<[String: Int]>([:])

    public init() {}

    /// - Returns: false when enough are waiting already.
    func enter(_ participantID: String) -> Bool {
        counts.withLock { counts in
            guard counts[participantID, default: 0] < Self.maximumPerParticipant else { return false }
            counts[participantID, default: 0] += 1
            return true
        }
    }

    func leave(_ participantID: String) {
        counts.withLock { counts in
            let left = counts[participantID, default: 1] - 1
            counts[participantID] = left > 0 ? left : nil
        }
    }
}

/// What becomes of an attempt on a key that somebody else holds (DESIGN.md 7, O41). A value without a clock.
struct Takeover: Equatable {
    enum Decision: Equatable {
        /// The incumbent has completed another frame: it is alive.
        case refuse
        /// The incumbent has been silent for long enough.
        case takeOver
        case wait(Duration)
    }

    /// How often the incumbent is looked at: it lives on another thread, and is not asked to tell.
    static let pollInterval = Duration.milliseconds(50)

    var began: MonotonicTime
    var silence: Duration

    func decision(incumbentProgress: MonotonicTime, now: MonotonicTime) -> Decision {
        if incumbentProgress > began { return .refuse }
        let silent = now - incumbentProgress
        if silent >= silence { return .takeOver }
        return .wait(min(Self.pollInterval, silence - silent))
    }
}
