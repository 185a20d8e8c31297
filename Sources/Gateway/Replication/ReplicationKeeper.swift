import Admission
public import EventLoop
import Store
import Wire

/// The control loop's part in replications: looks once a second for those whose source has been gone for
/// too long. Confined to its loop.
public final class ReplicationKeeper {
    private let book: ReplicationBook
    private let loop: EventLoop
    private let replies: ReplyBox
    private var machine = WindowMachine()
    private var timer: TimerWatch?
    private var isAsking = false

    /// - Throws: when the kernel gives no more descriptors.
    public init(loop: EventLoop, book: ReplicationBook, interval: Duration = .seconds(1)) throws(SystemError) {
        (self.loop, self.book) = (loop, book)
        replies = try ReplyBox(loop: loop)
        timer = loop.schedule(after: interval, repeating: interval, tolerance: interval) { [unowned self] in look() }
    }

    /// Nothing is asked while nothing is replicated.
    private func look() {
        let replications = book.store.state.replications
        guard !replications.isEmpty, !isAsking else { return }
        let sources = Set(replications.values.map(\.key.source))
        isAsking = true
        replies.ask { [leases = book.leases] reply in
            leases.surelyLive(among: sources) { reply($0) }
        } then: { [unowned self] (answer: Result<Set<StageParticipant>, StoreError>?) in
            // While nobody can say who publishes, nobody is missed.
            guard case .success(let live) = answer else { return isAsking = false }
            askForSessions(Array(replications.values), live: live)
        }
    }

    private func askForSessions(_ replications: [Replication], live: Set<StageParticipant>) {
        let stages = Set(replications.filter { $0.state == .stopped }.map(\.key.sourceStageARN)).sorted()
        guard !stages.isEmpty else { return carryOut(machine.look(at: replications, live: live, sessions: [:], loop.now)) }
        replies.ask { [leases = book.leases] reply in
            leases.activeSessions(ofStages: stages) { reply($0) }
        } then: { [unowned self] (answer: Result<[String: StageSession], StoreError>?) in
            guard case .success(let sessions) = answer else { return isAsking = false }
            carryOut(machine.look(at: replications, live: live, sessions: sessions.mapValues(\.sessionID), loop.now))
        }
    }

    private func carryOut(_ actions: [WindowMachine.Action]) {
        isAsking = false
        for action in actions {
            switch action {
            case .stop(let replication): book.stop(replication)
            case .forget(let replication): book.forget(replication)
            }
        }
    }
}
