import EventLoop
import Refusals
import Wire

/// The transports of the sessions that one worker has claimed, and whose turn it is: each round, at the end of a batch, while
/// packets are missing. Any of them may end, and so leave, in its turn. Confined to the loop.
final class ClaimedTransports {
    private let loop: EventLoop
    private let clock: PortClock
    private var transports: [ObjectIdentifier: PeerTransport] = [:]
    /// With packets gathered from the batch at hand.
    private var gathering: [PeerTransport] = []

    init(loop: EventLoop, clock: PortClock) {
        (self.loop, self.clock) = (loop, clock)
        clock.onRepair = { [unowned self] in repair() }
    }

    var isEmpty: Bool { transports.isEmpty }

    /// Nil for a session that another worker has claimed, or nobody, and for one that has ended.
    subscript(entry: any TransportEntry) -> PeerTransport? { transports[ObjectIdentifier(entry)] }

    func add(_ transport: PeerTransport) {
        transports[ObjectIdentifier(transport.entry)] = transport
        clock.startRounds()
    }

    /// It has ended.
    func remove(_ transport: PeerTransport) {
        transports[ObjectIdentifier(transport.entry)] = nil
        gathering.removeAll { $0 === transport }
    }

    // MARK: - Turns

    /// A `flush` is asked for when the batch at hand has been received.
    func gather(_ transport: PeerTransport) { gathering.append(transport) }

    /// Flushes what the batch left, while its bytes are still there.
    func flush() {
        for transport in gathering {
            transport.flush()
            if !clock.isRepairing, transport.isMissingPackets { clock.startRepairs() }
        }
        gathering.removeAll(keepingCapacity: true)
    }

    /// Each session's turn in a round of the clock.
    func goRound(_ number: Int, at now: MonotonicTime) {
        let isLookDue = number % Self.roundsPerLook == 0
        for transport in transports.values {
            if isLookDue { transport.look(at: now) }
            transport.sendFeedback(at: now)
        }
    }

    private static let roundsPerLook = 2

    /// Asks for lost packets.
    private func repair() -> Bool {
        for transport in transports.values where transport.isMissingPackets { transport.sendFeedback(at: loop.now) }
        return transports.values.contains(where: \.isMissingPackets)
    }

    // MARK: - End

    /// - Returns: how many ended.
    func endOldest(_ count: Int, of purpose: TransportPurpose) -> Int {
        let oldest = transports.values.filter { $0.entry.purpose == purpose }.sorted {
            $0.entry.transport.createdAt < $1.entry.transport.createdAt
        }.prefix(count)
        for transport in oldest { transport.end(.shutdown) }
        return oldest.count
    }

    func endAll() {
        for transport in Array(transports.values) { transport.end(.shutdown) }
    }
}
