import STUN
public import Wire

/// The validated tuples of one worker, found by address and by session. Every step but `sweep` costs the same however many there are.
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

    /// Whom packets of a source are offered to, by that source: as long as the members stay.
    private var orders: [UInt32: Order] = [:]

    /// Whom a packet of somebody but the first member is offered to.
    struct Order {
        /// Members of this worker, those first whose source it is said to be: it goes to the first that finds it genuine.
        var near: [TupleMember]
        /// Members of other workers, all of whom get it.
        var far: [TupleMember]
        fileprivate var until: MonotonicTime
    }

    init(path: MediaPath, first: TupleMember) { (self.path, self.first, lastGenuine) = (path, first, first.lastCheck) }

    func member(_ entry: any TransportEntry) -> TupleMember? {
        first.entry === entry ? first : others.first { $0.entry === entry }
    }

    func member(ufrag: LocalUfrag) -> TupleMember? { first.ufrag == ufrag ? first : others.first { $0.ufrag == ufrag } }

    /// - Parameter named: the sessions that have sent from this source; asked once a second.
    func order(of source: UInt32, at now: MonotonicTime, named: () -> [any TransportEntry]) -> Order {
        if let known = orders[source], now < known.until { return known }
        let (named, members) = (named(), [first] + others)
        func isNamed(_ member: TupleMember) -> Bool { named.contains { $0 === member.entry } }
        let (near, far) = (members.filter { $0.transport != nil }, members.filter { $0.transport == nil })
        let order = Order(
            near: near.filter(isNamed) + near.filter { !isNamed($0) },
            far: far.contains(where: isNamed) ? far.filter(isNamed) : far, until: now + Self.orderLifetime)
        if orders.count >= Self.maximumOrders { orders.removeAll(keepingCapacity: true) }
        orders[source] = order
        return order
    }

    /// The session of a member is this worker's from now on.
    func own(_ entry: any TransportEntry, by transport: PeerTransport) {
        member(entry)?.transport = transport
        orders.removeAll()
    }

    /// - Returns: who had to go because there are too many.
    func add(_ member: TupleMember) -> TupleMember? {
        orders.removeAll()
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
        orders.removeAll()
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
    /// A source that was new a moment ago may have a session by then.
    private static let orderLifetime: Duration = .seconds(1)
    private static let maximumOrders = 16
}

/// A session's part in a tuple.
final class TupleMember {
    let entry: any TransportEntry
    /// The session's, when this worker owns it; the port forgets its memberships when it ends.
    var transport: PeerTransport?
    /// What the last check was verified with, so that the next one needs no directory.
    var ufrag: LocalUfrag
    var password: [UInt8]
    var lastCheck: MonotonicTime

    init(
        _ entry: any TransportEntry, transport: PeerTransport?, ufrag: LocalUfrag, password: [UInt8], now: MonotonicTime
    ) {
        (self.entry, self.transport, self.ufrag, self.password, lastCheck) = (entry, transport, ufrag, password, now)
    }
}

/// The way to a peer: its address, and ours that it knows.
public struct MediaPath: Hashable, Sendable {
    public var remote: SocketAddress
    /// To which its datagrams come, and from which ours go; nil where that is not known.
    public var local: IPAddress?
    /// Over ICE-TCP.
    public var isStream = false

    var key: TupleKey { TupleKey(remote: remote, isStream: isStream) }
}

/// By what a worker finds a tuple: the peer's address and the transport.
struct TupleKey: Hashable, Sendable {
    var remote: SocketAddress
    var isStream: Bool
}
