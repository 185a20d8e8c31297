import Admission
import EventLoop
import Wire

/// The publish attempts that wait on live keys, process-wide: at most two on one (docs/design.md 7.3).
public final class HeldAttempts: Sendable {
    static let maximumPerParticipant = 2

    private struct Held {
        var number: Int
        var goOn: @Sendable () -> Void
    }

    private struct Content {
        var held: [ParticipantKey: [Held]] = [:]
        var lastNumber = 0
    }

    private let content = Lock(Content())

    public init() {}

    /// - Parameter goOn: called on any thread whenever the participant's lease is given back by a publish of this process.
    /// - Returns: the attempt's number, to leave with; nil when enough are waiting already.
    func enter(_ participant: ParticipantKey, goOn: @escaping @Sendable () -> Void) -> Int? {
        content.withLock { content in
            guard content.held[participant, default: []].count < Self.maximumPerParticipant else { return nil }
            content.lastNumber += 1
            content.held[participant, default: []].append(Held(number: content.lastNumber, goOn: goOn))
            return content.lastNumber
        }
    }

    func leave(_ participant: ParticipantKey, _ number: Int) {
        content.withLock { content in
            content.held[participant]?.removeAll { $0.number == number }
            if content.held[participant]?.isEmpty == true { content.held[participant] = nil }
        }
    }

    /// The participant's lease was given back: who waits for it need not wait for the next look.
    func released(_ participant: ParticipantKey) {
        for held in content.withLock({ $0.held[participant] ?? [] }) { held.goOn() }
    }
}

/// What becomes of an attempt on a key that somebody else holds (docs/design.md 7.3). A value without a clock.
struct Takeover: Equatable {
    enum Decision: Equatable {
        /// The incumbent has completed another frame: it is alive.
        case refuse
        /// The incumbent has been silent for long enough.
        case takeOver
        case wait(Duration)
    }

    /// When the incumbent is looked at. One of this process says when it ends, others do not: soon at first, because an encoder
    /// that connects anew at once is often only milliseconds ahead of its former connection's end; then ever more seldom.
    static let firstPollInterval = Duration.milliseconds(1)
    static let longestPollInterval = Duration.milliseconds(50)

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
}
