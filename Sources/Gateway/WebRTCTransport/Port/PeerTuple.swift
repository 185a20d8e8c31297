import STUN
import Wire

/// One validated tuple on one worker, with the sessions whose checks came from it (docs/design.md 4.2).
///
/// Mostly that is one. A check says nothing of who really sends from an address, so that another session's takes the tuple from
/// nobody: both are its members, and whoever was heard there lately goes first.
final class PeerTuple {
    var path: MediaPath
    /// Whose packets are expected; the others' are told apart by their source.
    private(set) var first: TupleMember
    private(set) var others: [TupleMember] = []
    /// When something genuine of the first member came over it last.
    var lastGenuine: MonotonicTime

    init(path: MediaPath, first: TupleMember) { (self.path, self.first, lastGenuine) = (path, first, first.lastCheck) }

    func member(_ entry: any TransportEntry) -> TupleMember? {
        first.entry === entry ? first : others.first { $0.entry === entry }
    }

    func member(ufrag: LocalUfrag) -> TupleMember? { first.ufrag == ufrag ? first : others.first { $0.ufrag == ufrag } }

    /// - Returns: who had to go because there are too many.
    func add(_ member: TupleMember) -> TupleMember? {
        others.append(member)
        guard others.count >= Self.maximumMembers else { return nil }
        return others.remove(at: others.indices.min { others[$0].lastCheck < others[$1].lastCheck } ?? 0)
    }

    /// A check of a member came: it goes first, unless the first one was heard lately.
    func checked(_ member: TupleMember, on path: MediaPath, at now: MonotonicTime) {
        (self.path, member.lastCheck) = (path, now)
        if member !== first {
            guard now - lastGenuine > Self.hold else { return }
            others.removeAll { $0 === member }
            others.append(first)
            first = member
        }
        lastGenuine = now
    }

    /// - Returns: whether nobody is left.
    func remove(_ entry: any TransportEntry) -> Bool {
        others.removeAll { $0.entry === entry }
        guard first.entry === entry else { return false }
        guard !others.isEmpty else { return true }
        first = others.removeFirst()
        lastGenuine = first.lastCheck
        return false
    }

    /// Two who share a socket, and somebody who says so.
    static let maximumMembers = 4
    /// A publisher's sound comes 50 times a second; an encoder that came back from the same port is not kept waiting.
    static let hold: Duration = .seconds(2)
}

/// A session's part in a tuple.
final class TupleMember {
    let entry: any TransportEntry
    /// The session itself when this worker owns it; the port forgets its memberships when it ends.
    var session: PeerTransport?
    /// What the last check was verified with, so that the next one needs no directory.
    var ufrag: LocalUfrag
    var password: [UInt8]
    var lastCheck: MonotonicTime

    init(
        _ entry: any TransportEntry, session: PeerTransport?, ufrag: LocalUfrag, password: [UInt8], now: MonotonicTime
    ) {
        (self.entry, self.session, self.ufrag, self.password, lastCheck) = (entry, session, ufrag, password, now)
    }
}
