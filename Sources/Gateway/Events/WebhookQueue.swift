import Store
import Wire

/// The events that one receiver has not taken: in order for each participant, one of them in flight (docs/design.md 7.7).
///
/// Pure: given the time, it says what to send now and when to ask again. A receiver that keeps failing slows down only itself.
/// Of each participant a few events are here, and of one whose event was refused that one alone: what is behind them stays in
/// the outbox until they have been taken. So a participant whose event is refused for ever keeps nobody else's out.
struct WebhookQueue: Sendable {
    /// Requests to one receiver at once.
    static let maximumInFlight = 8
    /// Events of one participant that are here.
    static let maximumOfParticipant = 10
    /// Between two tries, at first and at most.
    static let firstDelay = Duration.seconds(1)
    static let maximumDelay = Duration.seconds(300)
    /// A receiver that failed this long is asked with one event at a time.
    static let patience = Duration.seconds(15 * 60)

    private struct Lane: Sendable {
        var events: [ParticipantEvent] = []
        /// Behind this number all of its events are in the outbox alone; nil where none are.
        var restAfter: Int64?
        var isInFlight = false
        var failures = 0
        var notBefore = MonotonicTime.zero
        /// Its event was let go at once when the receiver came back, and has not been taken since.
        var wasHurried = false

        var isFull: Bool { events.count >= (failures == 0 ? WebhookQueue.maximumOfParticipant : 1) }
    }

    private var lanes: [StageParticipant: Lane] = [:]
    /// Participants in the order in which they came to wait.
    private var order: [StageParticipant] = []
    /// Those of whom all events that were here have been taken, and more are in the outbox.
    private var emptied: [StageParticipant] = []
    private var inFlight = 0
    /// Since when nothing has been taken; nil while the receiver works.
    private var failingSince: MonotonicTime?

    private(set) var count = 0
    /// Those of them that were refused, one of each participant.
    private(set) var refused = 0

    init() {}

    /// Takes the next event of the outbox, or leaves it there.
    mutating func add(_ event: ParticipantEvent) {
        let key = StageParticipant(event)
        var lane = lanes[key] ?? Lane()
        guard lane.restAfter == nil else { return }
        if let last = lane.events.last, lane.isFull {
            lane.restAfter = last.sequence
        } else {
            if lane.events.isEmpty { order.append(key) }
            lane.events.append(event)
            count += 1
        }
        lanes[key] = lane
    }

    /// Whose events have to be read again, and behind which number; nil while nobody's have to.
    var wanted: (participant: StageParticipant, after: Int64)? {
        guard let key = emptied.first, let after = lanes[key]?.restAfter else { return nil }
        return (key, after)
    }

    /// The next events of a participant that was `wanted`.
    /// - Parameter restAfter: behind which number there are more; nil where these are the last ones.
    mutating func addRest(_ events: [ParticipantEvent], of participant: StageParticipant, restAfter: Int64?) {
        emptied.removeAll { $0 == participant }
        guard var lane = lanes[participant], lane.events.isEmpty else { return }
        (lane.events, lane.restAfter) = (events, restAfter)
        count += events.count
        keep(lane, of: participant)
    }

    private mutating func keep(_ lane: Lane, of key: StageParticipant) {
        let isDone = lane.events.isEmpty && lane.restAfter == nil
        lanes[key] = isDone ? nil : lane
        if isDone { order.removeAll { $0 == key } } else if lane.events.isEmpty { emptied.append(key) }
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
        let key = StageParticipant(event)
        guard var lane = lanes[key], lane.isInFlight, lane.events.first?.sequence == event.sequence else { return }
        inFlight -= 1
        count -= 1
        lane.events.removeFirst()
        if lane.failures > 0 { refused -= 1 }
        (lane.isInFlight, lane.failures, lane.wasHurried) = (false, 0, false)
        keep(lane, of: key)
        if failingSince != nil { comeBack() }
    }

    mutating func failed(_ event: ParticipantEvent, at now: MonotonicTime) {
        let key = StageParticipant(event)
        guard var lane = lanes[key], lane.isInFlight, lane.events.first?.sequence == event.sequence else { return }
        inFlight -= 1
        lane.isInFlight = false
        lane.notBefore = now + min(Self.firstDelay * (1 << min(lane.failures, 20)), Self.maximumDelay)
        if lane.failures == 0 { refused += 1 }
        lane.failures += 1
        if lane.events.count > 1 {
            count -= lane.events.count - 1
            (lane.events, lane.restAfter) = ([event], event.sequence)
        }
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
            refused -= 1
            (lane.notBefore, lane.failures, lane.wasHurried) = (.zero, 0, true)
            lanes[key] = lane
        }
    }
}

extension StageParticipant {
    init(_ event: ParticipantEvent) { self.init(event.participantID, of: event.stageARN) }
}
