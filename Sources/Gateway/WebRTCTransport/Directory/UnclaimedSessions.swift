public import EventLoop
import Refusals
import Wire

/// Sessions of one endpoint that are answered and that no peer has claimed yet: one that nobody claims in time ends. Confined to
/// the endpoint's loop.
public final class UnclaimedSessions {
    private let loop: EventLoop
    private let patience: Duration
    private var entries: [any TransportEntry] = []
    /// Nil while none waits.
    private var sweeper: TimerWatch?

    /// - Parameter patience: from a session's making to its claim.
    public init(loop: EventLoop, patience: Duration) { (self.loop, self.patience) = (loop, patience) }

    /// Looks after a session from now on, once a second.
    public func add(_ entry: any TransportEntry) {
        entries.append(entry)
        guard sweeper == nil else { return }
        sweeper = loop.schedule(after: .seconds(1), repeating: .seconds(1), tolerance: .seconds(1)) { [unowned self] in sweep() }
    }

    private func sweep() {
        var overdue: [any TransportEntry] = []
        entries.removeAll { entry in
            guard entry.transport.ownership == .pending else { return true }
            guard loop.now - entry.transport.createdAt > patience else { return false }
            overdue.append(entry)
            return true
        }
        // Only now: who hears of an end may bring another session here.
        for entry in overdue where entry.transport.endIfPending() { entry.finishOnce(.connectionLost) }
        if entries.isEmpty { sweeper = nil }
    }
}
