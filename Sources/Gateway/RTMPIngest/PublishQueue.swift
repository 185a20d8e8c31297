import Admission
import EventLoop
import Wire

/// The publishes that wait for a live key's lease, process-wide: at most two for one (docs/design.md 7.3).
final class PublishQueue: Sendable {
    private struct Place {
        var number: Int
        var goOn: @Sendable () -> Void
    }

    private struct Content {
        var places: [ParticipantKey: [Place]] = [:]
        var lastNumber = 0
    }

    private let content = Lock(Content())

    init() {}

    /// - Parameter goOn: called on any thread whenever the participant's lease is given back by a publish of this process.
    /// - Returns: the place's number, to leave with; nil when enough are waiting already.
    func enter(_ participant: ParticipantKey, goOn: @escaping @Sendable () -> Void) -> Int? {
        content.withLock { content in
            guard content.places[participant, default: []].count < Self.maximumPerParticipant else { return nil }
            content.lastNumber += 1
            content.places[participant, default: []].append(Place(number: content.lastNumber, goOn: goOn))
            return content.lastNumber
        }
    }

    func leave(_ participant: ParticipantKey, _ number: Int) {
        content.withLock { content in
            content.places[participant]?.removeAll { $0.number == number }
            if content.places[participant]?.isEmpty == true { content.places[participant] = nil }
        }
    }

    /// The participant's lease was given back: who waits for it need not wait for the next look.
    func released(_ participant: ParticipantKey) {
        for place in content.withLock({ $0.places[participant] ?? [] }) { place.goOn() }
    }

    static let maximumPerParticipant = 2
}
