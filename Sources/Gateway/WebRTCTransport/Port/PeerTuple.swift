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
