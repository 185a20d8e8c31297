import EventLoop
import Wire

/// Publishes that begin, and may go on with what another node has recorded: their feeds fill until the register says what that
/// is. Confined to the writer's thread.
final class Arrivals {
    private struct Arrival {
        let publish: RecordedPublish
        let resumption: Resumption
        let register: any RecordingRegister
        /// Of the writer's thread: what the register says comes to `decide` by it.
        let sender: MailboxSender<RecordingMessage>
        let since: MonotonicTime
        /// What the register said when this node wrote that it takes the recording over.
        var taken: [JournalEntry]?
        /// Until the register is asked again.
        var pause: TimerWatch?

        /// If the other one began first, this would take the recording from it.
        func precedes(_ other: Arrival) -> Bool {
            let (mine, its) = (publish.participant, other.publish.participant)
            return (mine.participantID, mine.stageID) == (its.participantID, its.stageID) && since < other.since
        }
    }

    private let loop: EventLoop
    private var arrivals: [ObjectIdentifier: Arrival] = [:]

    init(loop: EventLoop) { self.loop = loop }

    func add(_ publish: RecordedPublish, _ register: any RecordingRegister, _ sender: MailboxSender<RecordingMessage>) {
        let id = ObjectIdentifier(publish.feed)
        arrivals[id] = Arrival(
            publish: publish, resumption: Resumption(participant: publish.participant, plan: publish.plan, node: register.node),
            register: register, sender: sender, since: EventLoop.monotonicNow())
        ask(for: id)
    }

    private func ask(for id: ObjectIdentifier) {
        guard let arrival = arrivals[id] else { return }
        arrival.register.read(arrival.publish.participant, prefix: nil) { [sender = arrival.sender] in
            sender.send(.resumption(of: id, $0))
        }
    }

    /// The register has answered.
    /// - Parameter leave: called with a recording that becomes this node's, which may have had it before the other one.
    /// - Returns: a publish that waits no longer, and what another node has stored of its recording.
    func decide(
        _ id: ObjectIdentifier, _ page: Result<RegisterPage?, any Error>, leave: (RecordingHeader) -> Void
    ) -> (publish: RecordedPublish, former: [JournalEntry])? {
        guard let arrival = arrivals[id] else { return nil }
        let waited = EventLoop.monotonicNow() - arrival.since
        let page = try? page.get()
        let isFirst = !arrivals.values.contains { $0.precedes(arrival) }
        let step = arrival.resumption.step(page, taken: arrival.taken, waited: waited, now: EventLoop.wallNow())
        switch isFirst ? step : .askAgain {
        case .beginAnew:
            arrivals[id] = nil
            return (arrival.publish, [])
        case .goOn(let entries):
            arrivals[id] = nil
            return (arrival.publish, entries)
        case .takeOver:
            arrivals[id]?.taken = page?.entries
            if case .began(let header)? = page?.entries.first {
                leave(header)
                arrival.register.write(RegisterLine(.takesOver, of: header, [.takenOver]))
            }
        case .askAgain: break
        }
        arrivals[id]?.pause = loop.schedule(after: Self.pause) { [unowned self] in ask(for: id) }
        return nil
    }

    /// Nobody is recorded any more.
    func removeAll() { arrivals = [:] }

    /// Between two questions to the register, while a publish's media waits for its answer.
    private static let pause = Duration.milliseconds(100)
}
