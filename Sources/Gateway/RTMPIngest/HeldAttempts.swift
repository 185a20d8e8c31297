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
