import Wire

/// SRTP from tuples without a check: a NAT gave the client another port, and its next check is seconds away
/// (docs/design.md 4.4). Says whose such a packet may be.
///
/// What a stranger may have tried is bounded; a tuple that has carried one genuine packet is known from then on, so that a whole
/// stream passes.
struct Rebinding {
    private let directory: TransportDirectory
    private var budget = RebindingBudget()
    /// Tuples that carried something genuine, with the session that it was of.
    private var known: [TupleKey: any TransportEntry] = [:]

    init(_ directory: TransportDirectory) { self.directory = directory }

    /// Whether no tuple is known.
    var isEmpty: Bool { known.isEmpty }

    /// The session that is known to send from there.
    func entry(at key: TupleKey) -> (any TransportEntry)? { known[key] }

    /// The sessions that a packet from elsewhere is to be tried with: those that have its source, as long as the budget lasts.
    /// - Parameter hasPredecessor: a process before us still has sessions, and most such packets are for those: only what may be
    ///   ours costs budget then.
    mutating func sessionsToTry(source: UInt32, at now: MonotonicTime, hasPredecessor: Bool) -> [any TransportEntry] {
        guard hasPredecessor || budget.allows(now) else { return [] }
        // The number is the client's choice: simple-whip-client takes 1 and 2, and so does its neighbour, here or there.
        let named = directory.entriesToTry(source: source)
        return named.isEmpty || !hasPredecessor || budget.allows(now) ? named : []
    }

    /// Something genuine of the session came over that tuple.
    mutating func learn(_ key: TupleKey, of entry: any TransportEntry) {
        if known.count >= Self.maximumKnown { known.removeAll(keepingCapacity: true) }
        known[key] = entry
    }

    /// The tuple has been checked, or its session has ended.
    mutating func forget(_ key: TupleKey) { known[key] = nil }

    /// Lets go of sessions that have ended.
    mutating func sweep() {
        if !known.isEmpty { known = known.filter { $0.value.transport.ownership != .ended } }
    }

    /// Beyond that all are learnt anew, one packet of the budget each.
    private static let maximumKnown = 1_024
}

/// Of tuples of which nothing genuine is known 200 packets are tried at once, and as many a second
/// and worker (docs/design.md 4.4).
struct RebindingBudget {
    private var packets = Allowance(maximumPerSecond, then: .seconds(1) / maximumPerSecond)

    mutating func allows(_ now: MonotonicTime) -> Bool { packets.take(at: now) }

    static let maximumPerSecond = 200
}

/// A copy of a packet while it is tried: what is not genuine is put back as it was, for decryption may have changed it in place.
@safe final class PacketTrial {
    private let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: DatagramRing.slotByteCount, alignment: 8)

    deinit { unsafe copy.deallocate() }

    /// - Parameter isGenuine: tries the datagram where it lies.
    func attempt(_ datagram: ReceivedDatagram, _ isGenuine: () -> Bool) -> Bool {
        let count = unsafe datagram.payload.count
        guard unsafe count <= copy.count else { return false }
        unsafe copy.copyMemory(from: datagram.bytes)
        if isGenuine() { return true }
        unsafe datagram.payload.copyMemory(from: UnsafeRawBufferPointer(rebasing: copy[..<count]))
        return false
    }
}
