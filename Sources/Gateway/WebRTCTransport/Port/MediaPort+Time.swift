import EventLoop
import GatewayMetrics
import Sockets
import Wire

/// The port's clockwork. It stands still while there are no sessions: an idle worker is not woken.
extension MediaPort {
    /// Looks at every session each 50 ms, for transport feedback, and each second for tuples that nobody uses; until no tuple
    /// is left.
    func startRounds() {
        guard rounds == nil else { return }
        rounds = loop.schedule(after: Self.roundInterval, repeating: Self.roundInterval) { [unowned self] in goRound() }
    }

    /// Asks for lost packets each 10 ms until none is missing.
    func startRepairs() {
        guard repairs == nil else { return }
        repairs = loop.schedule(after: Self.repairInterval, repeating: Self.repairInterval) { [unowned self] in repair() }
    }

    private func goRound() {
        let drops = socket.counters.droppedByKernel
        plane.metrics.kernelDrops.increment(by: drops - countedDrops)
        countedDrops = drops
        roundCount += 1
        let isSlow = roundCount % 2 == 0
        for session in sessions.values { session.tick(at: loop.now, isSlow: isSlow) }
        if roundCount % Self.roundsPerSweep == 0 {
            tuples.sweep(at: loop.now, lifetime: Self.tupleLifetime)
            rebound = rebound.filter { $0.value.transport.current != .ended }
        }
        if tuples.isEmpty, sessions.isEmpty, rebound.isEmpty { rounds = nil }
    }

    private func repair() {
        var isMissing = false
        for session in sessions.values where session.wantsEveryTick {
            session.tick(at: loop.now, isSlow: false)
            isMissing = true
        }
        if !isMissing { repairs = nil }
    }

    private static let roundInterval: Duration = .milliseconds(50)
    private static let roundsPerSweep = 20
    private static let repairInterval: Duration = .milliseconds(10)
    /// Checks come every few seconds; a tuple without them that this worker only passes on is forgotten.
    private static let tupleLifetime: Duration = .seconds(60)
}
