import Store
import Testing
import Wire

@testable import Events

@Suite("Webhook queue")
struct WebhookQueueTests {
    static func event(_ sequence: Int64, of participant: String) -> ParticipantEvent {
        var event = ParticipantEvent(
            name: .publishStarted, time: WallTime(secondsSince1970: 1_800_000_000),
            of: .init(participant, ofStage: "arn", sessionID: "st-x"), userID: "")
        event.sequence = sequence
        return event
    }

    /// Reads again what the queue has left in the outbox, as the dispatcher does.
    static func refill(_ queue: inout WebhookQueue, from outbox: [ParticipantEvent]) {
        while let wanted = queue.wanted {
            let rest = outbox.filter { StageParticipant($0) == wanted.participant && $0.sequence > wanted.after }
            let page = Array(rest.prefix(WebhookQueue.maximumOfParticipant))
            queue.addRest(page, of: wanted.participant, restAfter: page.count < rest.count ? page.last?.sequence : nil)
        }
    }

    @Test
    func `of a participant whose event is refused only that one is in memory, and the rest follows it in order`() {
        var queue = WebhookQueue()
        let outbox = (1...600 as ClosedRange<Int64>).map { Self.event($0, of: "refused") }
        for event in outbox { queue.add(event) }
        #expect(queue.count == WebhookQueue.maximumOfParticipant)
        for event in queue.due(at: .zero) { queue.failed(event, at: .zero) }
        #expect(queue.count == 1)
        let last = Self.event(601, of: "refused")
        queue.add(last)
        queue.add(Self.event(602, of: "other"))
        #expect(queue.count == 2)
        #expect(queue.due(at: .zero).map(\.sequence) == [602])
        queue.taken(Self.event(602, of: "other"))
        var taken: [Int64] = []
        while let event = queue.due(at: .zero).first {
            taken.append(event.sequence)
            queue.taken(event)
            Self.refill(&queue, from: outbox + [last])
        }
        #expect(taken == Array(1...601))
        #expect(queue.count == 0)
    }

    @Test
    func `one event of a participant is in flight, others go beside it`() {
        var queue = WebhookQueue()
        for sequence in 1...4 as ClosedRange<Int64> { queue.add(Self.event(sequence, of: sequence == 4 ? "b" : "a")) }
        let first = queue.due(at: .zero)
        #expect(first.map(\.sequence) == [1, 4])
        #expect(queue.due(at: .zero).isEmpty)
        queue.taken(first[0])
        #expect(queue.due(at: .zero).map(\.sequence) == [2])
    }

    /// What a receiver does with a request at a moment: takes it, refuses it, or lets it run into the deadline.
    enum Behaviour: CaseIterable {
        case hangs, answers500, closes, returnsAfterTenMinutes

        func outcome(at seconds: Int64, try attempt: Int) -> (isTaken: Bool, seconds: Int64) {
            switch self {
            case .hangs: (attempt > 5, attempt > 5 ? 0 : 5)
            case .answers500: (attempt > 40, 0)
            case .closes: (attempt % 2 == 0, 0)
            case .returnsAfterTenMinutes: (seconds >= 600, seconds >= 600 ? 0 : 1)
            }
        }
    }

    @Test(arguments: Behaviour.allCases)
    func `every event arrives, in order per participant, whatever the receiver does`(_ behaviour: Behaviour) {
        var queue = WebhookQueue()
        let outbox = (1...60 as ClosedRange<Int64>).map { Self.event($0, of: "p\($0 % 7)") }
        for event in outbox { queue.add(event) }
        var taken: [ParticipantEvent] = []
        var running: [(end: Int64, event: ParticipantEvent, isTaken: Bool)] = []
        var attempts = 0
        for second in 0..<Int64(4 * 3_600) where queue.count > 0 {
            let now = MonotonicTime(nanoseconds: second * 1_000_000_000)
            for finished in running where finished.end <= second {
                if finished.isTaken {
                    taken.append(finished.event)
                    queue.taken(finished.event)
                } else {
                    queue.failed(finished.event, at: now)
                }
            }
            running.removeAll { $0.end <= second }
            Self.refill(&queue, from: outbox)
            for event in queue.due(at: now) {
                attempts += 1
                let outcome = behaviour.outcome(at: second, try: attempts)
                running.append((second + max(1, outcome.seconds), event, outcome.isTaken))
            }
        }
        #expect(taken.count == 60)
        for participant in Set(taken.map(\.participantID)) {
            let order = taken.filter { $0.participantID == participant }.map(\.sequence)
            #expect(order == order.sorted(), "\(participant)")
        }
    }

    @Test
    func `a receiver that failed for a quarter of an hour is asked with one event`() {
        var queue = WebhookQueue()
        for sequence in 1...20 as ClosedRange<Int64> { queue.add(Self.event(sequence, of: "p\(sequence)")) }
        let first = queue.due(at: .zero)
        #expect(first.count == 8)
        for event in first { queue.failed(event, at: .zero) }
        let later = MonotonicTime(nanoseconds: 901 * 1_000_000_000)
        let probe = queue.due(at: later)
        #expect(probe.count == 1)
        queue.taken(probe[0])
        #expect(queue.due(at: later).count == 8, "it came back: everybody goes at once")
    }

    /// Each event of others that is taken says that the receiver works.
    @Test
    func `an event that is refused while others are taken is tried ever more seldom`() {
        var queue = WebhookQueue()
        queue.add(Self.event(1, of: "refused"))
        let others = (2...601 as ClosedRange<Int64>).map { Self.event($0, of: "taken") }
        for event in others { queue.add(event) }
        var tries: [Int64] = []
        for second in 0..<600 as Range<Int64> {
            let now = MonotonicTime(nanoseconds: second * 1_000_000_000)
            for event in queue.due(at: now) {
                if event.participantID == "taken" {
                    queue.taken(event)
                } else {
                    tries.append(second)
                    queue.failed(event, at: now)
                }
            }
            Self.refill(&queue, from: others)
        }
        // At once when another one has been taken, and from there on after 1, 2, 4 … s.
        #expect(tries == [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512])
        #expect(queue.count == 1)
    }
}
