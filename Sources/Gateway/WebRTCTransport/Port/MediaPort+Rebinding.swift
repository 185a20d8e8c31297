import GatewayMetrics
import Sockets
import Wire

/// SRTP from tuples without a check: a NAT gave the client another port, and its next check is seconds away
/// (docs/design.md 4.4).
///
/// Until that check nothing is sent there. What a stranger may have tried is bounded; a tuple that has carried one genuine packet
/// is known from then on, so that a whole stream passes.
extension MediaPort {
    func receiveRebound(_ datagram: UnsafeMutableRawBufferPointer, on path: MediaPath, at now: MonotonicTime) {
        if let entry = rebound[path.key] {
            if !hand(datagram, to: entry, on: path, at: now) { rebound[path.key] = nil }
            return
        }
        // With a process before us most of these are its sessions': only what may be ours is paid from the budget then.
        let isShared = predecessor != nil
        guard let ssrc = UnsafeRawBufferPointer(datagram).ssrc, isShared || rebindingBudget.allows(now) else {
            return plane.metrics.garbage.increment()
        }
        // The number is the client's choice: simple-whip-client takes 1 and 2, and so does its neighbour, here or there.
        let candidates = plane.directory.entries(source: ssrc)
        let isTried = !candidates.isEmpty && (!isShared || rebindingBudget.allows(now))
        for entry in candidates where isTried && isGenuine(datagram, of: entry, at: now) { return learn(path, of: entry) }
        let isPassed = pass(UnsafeRawBufferPointer(datagram), on: path)
        guard isTried else { return isPassed ? () : plane.metrics.garbage.increment() }
        for entry in candidates { hand(datagram, to: entry, on: path, at: now, exceptHere: true) }
    }

    /// Tries a packet with a session of ours. What is not genuine is put back as it was: decryption may have changed it in place.
    private func isGenuine(_ datagram: UnsafeMutableRawBufferPointer, of entry: any TransportEntry, at now: MonotonicTime) -> Bool
    {
        guard let session = sessions[ObjectIdentifier(entry)] else { return false }
        return attempting(datagram) { session.receiveRebound(datagram, at: now) }
    }

    private func attempting(_ datagram: UnsafeMutableRawBufferPointer, _ isGenuine: () -> Bool) -> Bool {
        guard datagram.count <= attempt.count else { return false }
        attempt.copyMemory(from: UnsafeRawBufferPointer(datagram))
        if isGenuine() { return true }
        datagram.copyMemory(from: UnsafeRawBufferPointer(rebasing: attempt[..<datagram.count]))
        return false
    }

    /// Several sessions were checked on the tuple: the packet goes to those whose source it names, or else to the first that
    /// finds it genuine. No member can keep a packet from another.
    func receiveShared(
        _ datagram: UnsafeMutableRawBufferPointer, _ tuple: PeerTuple, on path: MediaPath, at now: MonotonicTime
    ) {
        let source = UnsafeRawBufferPointer(datagram).ssrc
        // The first one's own packets cost no more for who else was checked there.
        if let source, tuple.first.session?.sources.contains(source) == true,
            isGenuine(datagram, of: tuple.first, on: path, at: now)
        {
            tuple.lastGenuine = now
            return
        }
        let members = [tuple.first] + tuple.others
        let named = source.map { plane.directory.entries(source: $0) } ?? []
        func isNamed(_ member: TupleMember) -> Bool { named.contains { $0 === member.entry } }
        for member in members.filter(isNamed) + members.filter({ !isNamed($0) }) where member.session != nil {
            guard isGenuine(datagram, of: member, on: path, at: now) else { continue }
            if member === tuple.first { tuple.lastGenuine = now }
            return
        }
        let far = members.filter { $0.session == nil }
        for member in far.contains(where: isNamed) ? far.filter(isNamed) : far {
            passOn(UnsafeRawBufferPointer(datagram), of: member, tuple, on: path, at: now)
        }
    }

    private func isGenuine(
        _ datagram: UnsafeMutableRawBufferPointer, of member: TupleMember, on path: MediaPath, at now: MonotonicTime
    ) -> Bool {
        guard let session = member.session else { return false }
        return attempting(datagram) { session.receiveMedia(datagram, on: path, at: now) }
    }

    /// Gives a packet to the session's worker; false when it has none any more.
    @discardableResult
    private func hand(
        _ datagram: UnsafeMutableRawBufferPointer, to entry: any TransportEntry, on path: MediaPath, at now: MonotonicTime,
        exceptHere: Bool = false
    ) -> Bool {
        guard case .owned(let worker) = entry.transport.current else { return false }
        if worker != index {
            forward(UnsafeRawBufferPointer(datagram), of: entry, isValidated: false, on: path, to: worker, at: now)
        } else if !exceptHere {
            _ = sessions[ObjectIdentifier(entry)]?.receiveRebound(datagram, at: now)
        }
        return true
    }

    /// A packet that another worker took from a tuple without a check, for a session of ours.
    func receiveForeignRebound(_ datagram: UnsafeMutableRawBufferPointer, _ slot: DatagramRing.Slot, from worker: Int) {
        guard let entry = slot.entry, let session = sessions[ObjectIdentifier(entry)],
            session.receiveRebound(datagram, at: slot.arrival), session.isNewlyRebound(to: slot.path)
        else { return }
        plane.send(.rebound(entry, slot.path), to: worker)
    }

    /// A genuine packet of the session came over this tuple.
    func learn(_ path: MediaPath, of entry: any TransportEntry) {
        guard tuples.find(path.key) == nil else { return }
        if rebound.count >= Self.maximumRebound { rebound.removeAll(keepingCapacity: true) }
        rebound[path.key] = entry
        startRounds()
    }

    /// Beyond that all are learnt anew, one packet of the budget each.
    private static let maximumRebound = 1_024
}
