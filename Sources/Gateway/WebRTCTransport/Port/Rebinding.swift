import Wire

/// Tuples without a check that carried something genuine, with the session that it was of (docs/design.md 4.4).
struct ReboundTuples {
    private var entries: [TupleKey: any TransportEntry] = [:]

    var isEmpty: Bool { entries.isEmpty }

    subscript(key: TupleKey) -> (any TransportEntry)? {
        get { entries[key] }
        set {
            if newValue != nil, entries.count >= Self.maximumCount { entries.removeAll(keepingCapacity: true) }
            entries[key] = newValue
        }
    }

    /// Lets go of sessions that have ended.
    mutating func sweep() {
        if !entries.isEmpty { entries = entries.filter { $0.value.transport.current != .ended } }
    }

    /// Beyond that all are learnt anew, one packet of the budget each.
    private static let maximumCount = 1_024
}

/// At most 200 packets a second and worker are tried on tuples of which nothing genuine is known (docs/design.md 4.4).
struct RebindingBudget {
    private var windowStart: MonotonicTime = .zero
    private var count = 0

    mutating func allows(_ now: MonotonicTime) -> Bool {
        if now - windowStart >= .seconds(1) { (windowStart, count) = (now, 0) }
        count += 1
        return count <= Self.maximumPerSecond
    }

    static let maximumPerSecond = 200
}

/// A copy of a packet while it is tried: what is not genuine is put back as it was, for decryption may have changed it in place.
@safe final class PacketTrial {
    private let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: DatagramRing.slotByteCount, alignment: 8)

    deinit { unsafe copy.deallocate() }

    /// - Parameter isGenuine: tries the datagram where it lies.
    func attempt(_ datagram: UnsafeMutableRawBufferPointer, _ isGenuine: () -> Bool) -> Bool {
        guard unsafe datagram.count <= copy.count else { return false }
        unsafe copy.copyMemory(from: UnsafeRawBufferPointer(datagram))
        if isGenuine() { return true }
        unsafe datagram.copyMemory(from: UnsafeRawBufferPointer(rebasing: copy[..<datagram.count]))
        return false
    }
}
