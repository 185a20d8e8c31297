import STUN
import Wire

/// The validated tuples of one worker, found by address and by session. Every step but `sweep` costs
/// the same however many there are.
struct TupleTable {
    private var tuples: [TupleKey: PeerTuple] = [:]
    /// Where each session was checked.
    private var keys: [ObjectIdentifier: [TupleKey]] = [:]
    /// The tuple of the last packet: those of a frame come one after the other.
    private var last: (key: TupleKey, tuple: PeerTuple)?

    var count: Int { tuples.count }
    var isEmpty: Bool { tuples.isEmpty }

    mutating func find(_ key: TupleKey) -> PeerTuple? {
        if let last, last.key == key { return last.tuple }
        guard let tuple = tuples[key] else { return nil }
        last = (key, tuple)
        return tuple
    }

    /// The tuples of a session.
    func tuples(of entry: any TransportEntry) -> [PeerTuple] {
        keys[ObjectIdentifier(entry), default: []].compactMap { tuples[$0] }
    }

    /// A check of `member`'s session came, verified with what `member` says; a session's oldest unused tuple makes room.
    mutating func note(_ member: TupleMember, on path: MediaPath) -> NotedCheck {
        let (key, now) = (path.key, member.lastCheck)
        guard let tuple = tuples[key] else {
            tuples[key] = PeerTuple(path: path, first: member)
            return NotedCheck(isNew: true, abandoned: join(member.entry, key))
        }
        if let known = tuple.member(member.entry) {
            tuple.checked(known, on: path, at: now)
            guard known.ufrag != member.ufrag else { return NotedCheck(isNew: false) }
            (known.ufrag, known.password) = (member.ufrag, member.password)
            return NotedCheck(isNew: true)
        }
        if let displaced = tuple.add(member) { leave(displaced.entry, key) }
        tuple.checked(member, on: path, at: now)
        return NotedCheck(isNew: true, abandoned: join(member.entry, key))
    }

    /// The session of `entry` is owned by this worker from now on.
    func own(_ entry: any TransportEntry, by transport: PeerTransport) {
        for tuple in tuples(of: entry) { tuple.own(entry, by: transport) }
    }

    /// - Returns: whether nobody is left there.
    @discardableResult
    mutating func remove(_ entry: any TransportEntry, at key: TupleKey) -> Bool {
        leave(entry, key)
        guard let tuple = tuples[key] else { return true }
        guard tuple.remove(entry) else { return false }
        (tuples[key], last) = (nil, nil)
        return true
    }

    /// The connection or address is gone, with whoever was there.
    mutating func remove(_ key: TupleKey) {
        guard let tuple = tuples[key] else { return }
        for member in [tuple.first] + tuple.others { leave(member.entry, key) }
        (tuples[key], last) = (nil, nil)
    }

    /// - Returns: the paths on which nobody is left.
    mutating func removeAll(of entry: any TransportEntry) -> [MediaPath] {
        tuples(of: entry).map(\.path).filter { remove(entry, at: $0.key) }
    }

    /// Lets go of sessions that have ended, and of those only passed on that were not checked for `lifetime`.
    mutating func sweep(at now: MonotonicTime, lifetime: Duration) {
        for (key, tuple) in tuples {
            for member in [tuple.first] + tuple.others
            where member.entry.transport.ownership == .ended || member.transport == nil && now - member.lastCheck >= lifetime {
                remove(member.entry, at: key)
            }
        }
    }

    /// - Returns: the path of the tuple that made room, where nobody is left on it.
    private mutating func join(_ entry: any TransportEntry, _ key: TupleKey) -> MediaPath? {
        let id = ObjectIdentifier(entry)
        let known = keys[id, default: []]
        var abandoned: MediaPath?
        if known.count >= Self.maximumPerSession, let oldest = known.min(by: { lastUse(of: entry, $0) < lastUse(of: entry, $1) })
        {
            let path = tuples[oldest]?.path
            if remove(entry, at: oldest) { abandoned = path }
        }
        keys[id, default: []].append(key)
        return abandoned
    }

    private mutating func leave(_ entry: any TransportEntry, _ key: TupleKey) {
        let id = ObjectIdentifier(entry)
        keys[id]?.removeAll { $0 == key }
        if keys[id]?.isEmpty == true { keys[id] = nil }
    }

    private func lastUse(of entry: any TransportEntry, _ key: TupleKey) -> MonotonicTime {
        guard let tuple = tuples[key], let member = tuple.member(entry) else { return .zero }
        return tuple.first === member ? max(member.lastCheck, tuple.lastGenuine) : member.lastCheck
    }

    /// Chromium gathers 5 to 10 pairs; libnice nominates several of them.
    static let maximumPerSession = 16
}

/// What a check changed in the table.
struct NotedCheck {
    /// The session was not known there with this ufrag.
    var isNew: Bool
    /// The path that made room, if nobody is left on it.
    var abandoned: MediaPath?
}
