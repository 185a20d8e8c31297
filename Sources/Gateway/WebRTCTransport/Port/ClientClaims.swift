import EventLoop
import Wire

/// When to claim sessions in which we are the DTLS client and so speak first: at USE-CANDIDATE, or 100 ms after the first check
/// where none has it. Confined to the loop.
final class ClientClaims {
    /// It is time for the session, by the tuple of that check.
    var onDue: (any TransportEntry, MediaPath, _ now: MonotonicTime) -> Void = { _, _, _ in }

    private let loop: EventLoop
    /// For a USE-CANDIDATE that may not come.
    private var waiting: [ObjectIdentifier: TimerWatch] = [:]

    init(loop: EventLoop) { self.loop = loop }

    /// A check came for a session that nobody has claimed.
    func checked(_ check: GenuineCheck) {
        let (entry, path) = (check.entry, check.path)
        if check.useCandidate { return onDue(entry, path, check.arrival) }
        guard entry.transport.scheduleClaim() else { return }
        waiting[ObjectIdentifier(entry)] = loop.schedule(after: Self.patience) { [unowned self] in
            waiting[ObjectIdentifier(entry)] = nil
            onDue(entry, path, loop.now)
        }
    }

    private static let patience: Duration = .milliseconds(100)
}
