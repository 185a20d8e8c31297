import Store
import Wire

/// The events that one receiver has not taken: in order for each participant, one of them in flight (docs/design.md 7.7).
///
/// Pure: given the time, it says what to send now and when to ask again. A receiver that keeps failing slows down only itself.
struct WebhookQueue: Sendable {
    /// Requests to one receiver at once.
    static let maximumInFlight = 8
    /// Between two tries, at first and at most.
    static let firstDelay = Duration.seconds(1)
    static let maximumDelay = Duration.seconds(300)
    /// A receiver that failed this long is asked with one event at a time.
    static let patience = Duration.seconds(15 * 60)

    private struct Lane: Sendable {
        var events: [ParticipantEvent] = []
        var isInFlight = false
        var failures = 0
        var notBefore = MonotonicTime.zero
        /// Its event was let go at once when the receiver came back, and has not been taken since.
        var wasHurried = false
    }

    private struct LaneKey: Hashable, Sendable {
        var stageARN: String
        var participantID: String

        init(_ event: ParticipantEvent) { (stageARN, participantID) = (event.stageARN, event.participantID) }
    }

    private var lanes: [LaneKey: Lane] = [:]
    /// Participants in the order in which they came to wait.
    private var order: [LaneKey] = []
    private var inFlight = 0
    /// Since when nothing has been taken; nil while the receiver works.
    private var failingSince: MonotonicTime?

    private(set) var count = 0

    init() {}

    mutating func add(_ event: ParticipantEvent) {
        let key = LaneKey(event)
        if lanes[key] == nil { order.append(key) }
        lanes[key, default: Lane()].events.append(event)
        count += 1
    }

    /// What to send now. For each of them `taken` or `failed` must be called.
    mutating func due(at now: MonotonicTime) -> [ParticipantEvent] {
        let limit = isParked(at: now) ? 1 : Self.maximumInFlight
        var events: [ParticipantEvent] = []
        for key in order where inFlight < limit {
            guard let lane = lanes[key], !lane.isInFlight, lane.notBefore <= now, let event = lane.events.first else { continue }
            lanes[key]?.isInFlight = true
            inFlight += 1
            events.append(event)
        }
        return events
    }

    mutating func taken(_ event: ParticipantEvent) {
        let key = LaneKey(event)
        guard var lane = lanes[key], lane.isInFlight else { return }
        inFlight -= 1
        count -= 1
        lane.events.removeFirst()
        (lane.isInFlight, lane.failures, lane.wasHurried) = (false, 0, false)
        lanes[key] = lane.events.isEmpty ? nil : lane
        if lane.events.isEmpty { order.removeAll { $0 == key } }
        if failingSince != nil { comeBack() }
    }

    mutating func failed(_ event: ParticipantEvent, at now: MonotonicTime) {
        let key = LaneKey(event)
        guard var lane = lanes[key], lane.isInFlight else { return }
        inFlight -= 1
        lane.isInFlight = false
        lane.notBefore = now + min(Self.firstDelay * (1 << min(lane.failures, 20)), Self.maximumDelay)
        lane.failures += 1
        lanes[key] = lane
        if failingSince == nil { failingSince = now }
    }

    /// When `due` will have something that it has not now; nil when only an answer can change that.
    func nextAttempt(after now: MonotonicTime) -> MonotonicTime? {
        let limit = isParked(at: now) ? 1 : Self.maximumInFlight
        guard inFlight < limit else { return nil }
        return lanes.values.filter { !$0.isInFlight && !$0.events.isEmpty }.map(\.notBefore).min()
    }

    private func isParked(at now: MonotonicTime) -> Bool { failingSince.map { now - $0 >= Self.patience } ?? false }

    /// The receiver works again: what waits for the next try is sent at once. What it refuses even so keeps its delays, or each
    /// event that is taken would send it again.
    private mutating func comeBack() {
        failingSince = nil
        for key in order {
            guard var lane = lanes[key], lane.failures > 0, !lane.wasHurried else { continue }
            (lane.notBefore, lane.failures, lane.wasHurried) = (.zero, 0, true)
            lanes[key] = lane
        }
    }
}
