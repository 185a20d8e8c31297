import Wire

/// One worker's media from validated tuples: each packet goes to the session that it is of, here or at another worker.
///
/// Confined to the loop.
final class ValidatedMedia {
    private let context: TransportContext
    private let index: Int
    private let foreign: ForeignDatagrams
    private let trial = PacketTrial()

    /// - Parameter index: our worker's.
    init(_ context: TransportContext, of index: Int, foreign: ForeignDatagrams) {
        (self.context, self.index, self.foreign) = (context, index, foreign)
    }

    func receive(_ datagram: ReceivedDatagram, at tuple: PeerTuple) {
        guard tuple.others.isEmpty else { return receiveShared(datagram, at: tuple) }
        guard let transport = tuple.first.transport else { return passToOwner(datagram, of: tuple.first, at: tuple) }
        if unsafe transport.receiveMedia(datagram.payload, on: datagram.path, at: datagram.arrival) {
            tuple.lastGenuine = datagram.arrival
        }
    }

    /// Several sessions were checked on the tuple: the packet goes to those whose source it names, or else to the first that
    /// finds it genuine. No member can keep a packet from another.
    private func receiveShared(_ datagram: ReceivedDatagram, at tuple: PeerTuple) {
        let (source, now) = unsafe (datagram.bytes.ssrc ?? 0, datagram.arrival)
        // The first one's own packets cost no more for who else was checked there.
        if let transport = tuple.first.transport, transport.sources.contains(source), isGenuine(datagram, of: transport) {
            return tuple.lastGenuine = now
        }
        let order = tuple.order(of: source, at: now) { context.directory.entries(source: source) }
        for member in order.near {
            guard let transport = member.transport, isGenuine(datagram, of: transport) else { continue }
            return member === tuple.first ? tuple.lastGenuine = now : ()
        }
        for member in order.far { passToOwner(datagram, of: member, at: tuple) }
    }

    private func isGenuine(_ datagram: ReceivedDatagram, of transport: PeerTransport) -> Bool {
        trial.attempt(datagram) { unsafe transport.receiveMedia(datagram.payload, on: datagram.path, at: datagram.arrival) }
    }

    /// Media of a session of another worker. Whether it is genuine shows there; one that is heard at
    /// all is taken to be heard here.
    private func passToOwner(_ datagram: ReceivedDatagram, of member: TupleMember, at tuple: PeerTuple) {
        guard case .owned(let worker) = member.entry.transport.ownership, worker != index else { return }
        foreign.forward(datagram, of: member.entry, isValidated: true, to: worker)
        let now = datagram.arrival
        if member === tuple.first, now - member.entry.transport.lastHeard <= PeerTuple.hold { tuple.lastGenuine = now }
    }
}
