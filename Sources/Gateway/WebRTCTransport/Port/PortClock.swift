import EventLoop

/// The media port's two timers. They stand still while there is nothing to look at: an idle worker is not woken. Confined to
/// the loop.
final class PortClock {
    /// Every 50 ms, with the number of the round, from 1.
    /// - Returns: whether there is anything left to look at.
    var onRound: (_ number: Int) -> Bool = { _ in false }
    /// Every 10 ms while packets are missing.
    /// - Returns: whether some still are.
    var onRepair: () -> Bool = { false }

    private let loop: EventLoop
    private var rounds: TimerWatch?
    private var roundCount = 0
    private var repairs: TimerWatch?

    init(loop: EventLoop) { self.loop = loop }

    /// There are tuples or sessions.
    func startRounds() {
        guard rounds == nil else { return }
        rounds = loop.schedule(after: Self.roundInterval, repeating: Self.roundInterval) { [unowned self] in
            roundCount += 1
            if !onRound(roundCount) { rounds = nil }
        }
    }

    /// A session misses packets.
    func startRepairs() {
        guard repairs == nil else { return }
        repairs = loop.schedule(after: Self.repairInterval, repeating: Self.repairInterval) { [unowned self] in
            if !onRepair() { repairs = nil }
        }
    }

    var isRepairing: Bool { repairs != nil }

    func stop() { (rounds, repairs) = (nil, nil) }

    private static let roundInterval: Duration = .milliseconds(50)
    private static let repairInterval: Duration = .milliseconds(10)
}
