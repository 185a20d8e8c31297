import EventLoop
import Refusals
import Wire

/// The sessions that one worker has claimed, and whose turn it is: each round, at the end of a batch, while packets are missing.
/// Any of them may end, and so leave, in its turn. Confined to the loop.
final class ClaimedSessions {
    private let loop: EventLoop
    private let clock: PortClock
    private var sessions: [ObjectIdentifier: PeerTransport] = [:]
    /// With packets gathered from the batch at hand.
    private var gathering: [PeerTransport] = []

    init(loop: EventLoop, clock: PortClock) {
        (self.loop, self.clock) = (loop, clock)
        clock.onRepair = { [unowned self] in repair() }
    }

    var isEmpty: Bool { sessions.isEmpty }

    /// Nil for a session that another worker has claimed, or nobody, and for one that has ended.
    subscript(entry: any TransportEntry) -> PeerTransport? { sessions[ObjectIdentifier(entry)] }

    func add(_ session: PeerTransport) {
        sessions[ObjectIdentifier(session.entry)] = session
        clock.startRounds()
    }

    /// It has ended.
    func remove(_ session: PeerTransport) {
        sessions[ObjectIdentifier(session.entry)] = nil
        gathering.removeAll { $0 === session }
    }

    // MARK: - Turns

    /// A `flush` is asked for when the batch at hand has been received.
    func gather(_ session: PeerTransport) { gathering.append(session) }

    /// Flushes what the batch left, while its bytes are still there.
    func flush() {
        for session in gathering {
            session.flush()
            if !clock.isRepairing, session.isMissingPackets { clock.startRepairs() }
        }
        gathering.removeAll(keepingCapacity: true)
    }

    /// Each session's turn in a round of the clock.
    func goRound(_ number: Int, at now: MonotonicTime) {
        let isLookDue = number % Self.roundsPerLook == 0
        for session in sessions.values {
            if isLookDue { session.look(at: now) }
            session.sendFeedback(at: now)
        }
    }

    private static let roundsPerLook = 2

    /// Asks for lost packets.
    private func repair() -> Bool {
        for session in sessions.values where session.isMissingPackets { session.sendFeedback(at: loop.now) }
        return sessions.values.contains(where: \.isMissingPackets)
    }

    // MARK: - End

    /// - Returns: how many ended.
    func endOldest(_ count: Int, of purpose: TransportPurpose) -> Int {
        let oldest = sessions.values.filter { $0.entry.purpose == purpose }.sorted {
            $0.entry.transport.createdAt < $1.entry.transport.createdAt
        }.prefix(count)
        for session in oldest { session.end(.shutdown) }
        return oldest.count
    }

    func endAll() {
        for session in Array(sessions.values) { session.end(.shutdown) }
    }
}
