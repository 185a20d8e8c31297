import GatewayMetrics

/// One worker's media from tuples without a check: tried with the sessions that `Rebinding` says, here and at their workers.
///
/// Nothing is sent to those tuples until a check comes from there. Confined to the loop.
final class ReboundMedia {
    private let context: TransportContext
    private let index: Int
    private let transports: ClaimedTransports
    private let foreign: ForeignDatagrams
    private let handover: PortHandover
    private let clock: PortClock
    private var rebinding: Rebinding
    private let trial = PacketTrial()

    /// - Parameter index: our worker's.
    init(
        _ context: TransportContext, of index: Int, transports: ClaimedTransports, foreign: ForeignDatagrams,
        handover: PortHandover, clock: PortClock
    ) {
        (self.context, self.index, self.transports) = (context, index, transports)
        (self.foreign, self.handover, self.clock) = (foreign, handover, clock)
        rebinding = Rebinding(context.directory)
    }

    // MARK: - Packets

    /// A packet from a tuple that has not been validated.
    func receive(_ datagram: ReceivedDatagram) {
        let (key, now) = (datagram.path.key, datagram.arrival)
        if let entry = rebinding.entry(at: key) { return receive(datagram, of: entry) }
        guard let ssrc = unsafe datagram.bytes.ssrc else { return context.metrics.garbage.increment() }
        let sessions = rebinding.sessionsToTry(source: ssrc, at: now, hasPredecessor: handover.hasPredecessor)
        for entry in sessions {
            guard let transport = transports[entry] else { continue }
            if trial.attempt(datagram, { unsafe transport.receiveRebound(datagram.payload, at: now) }) {
                return learn(key, of: entry)
            }
        }
        let isPassed = handover.pass(datagram)
        guard isPassed || !sessions.isEmpty else { return context.metrics.garbage.increment() }
        for entry in sessions {
            guard let worker = entry.transport.worker, worker != index else { continue }
            tryElsewhere(datagram, of: entry, to: worker)
        }
    }

    /// A packet from a tuple that is known to be the session's, as long as that lives.
    private func receive(_ datagram: ReceivedDatagram, of entry: any TransportEntry) {
        switch entry.transport.ownership {
        case .owned(index): _ = unsafe transports[entry]?.receiveRebound(datagram.payload, at: datagram.arrival)
        case .owned(let worker): tryElsewhere(datagram, of: entry, to: worker)
        case .pending, .ended: forget(datagram.path.key)
        }
    }

    /// Whether it is genuine shows at the session's worker, which says so: `.rebound`.
    private func tryElsewhere(_ datagram: ReceivedDatagram, of entry: any TransportEntry, to worker: Int) {
        foreign.forward(datagram, of: entry, isValidated: false, to: worker)
    }

    /// A packet that `worker` had from such a tuple may be of a session of ours: it is told the first time that one is.
    func receiveForeign(
        _ packet: UnsafeMutableRawBufferPointer, _ slot: DatagramRing.Slot, of transport: PeerTransport, from worker: Int
    ) {
        guard unsafe transport.receiveRebound(packet, at: slot.arrival), transport.isNewlyRebound(to: slot.path) else { return }
        context.send(.rebound(slot.entry, slot.path), to: worker)
    }

    // MARK: - Tuples

    /// Whether no tuple is known.
    var isEmpty: Bool { rebinding.isEmpty }

    /// A genuine packet of the session came over this tuple.
    func learn(_ key: TupleKey, of entry: any TransportEntry) {
        rebinding.learn(key, of: entry)
        clock.startRounds()
    }

    /// The tuple has been checked, or its session has ended.
    func forget(_ key: TupleKey) { rebinding.forget(key) }

    /// Lets go of sessions that have ended.
    func sweep() { rebinding.sweep() }
}
