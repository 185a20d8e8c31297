import Synchronization
import Wire

/// Datagrams of owned sessions that landed on another worker, from one worker to one other: 128 slots of 2 KB, full = dropped.
final class DatagramRing: Sendable {
    struct Slot {
        var count = 0
        var entry: (any TransportEntry)?
        /// False for a packet that is only tried, from a tuple without a check.
        var isValidated = false
        var path = MediaPath(remote: SocketAddress(.anyV4, port: 0))
        var arrival = MonotonicTime.zero
    }

    /// Safe to share: one thread writes the slots in [tail, tail + 128) that the other is done with and then moves `tail` with
    /// release; the other reads slots in [head, tail) after an acquiring load and then moves `head` with release.
    nonisolated(unsafe) private let slots: UnsafeMutablePointer<Slot>
    nonisolated(unsafe) private let bytes: UnsafeMutableRawPointer
    private let head = Atomic<Int>(0)
    private let tail = Atomic<Int>(0)
    /// The reader's own note; nobody else looks at it.
    private let drained = Atomic<Int>(0)

    init() {
        slots = .allocate(capacity: Self.slotCount)
        slots.initialize(repeating: Slot(), count: Self.slotCount)
        bytes = .allocate(byteCount: Self.slotCount * Self.stride, alignment: 64)
    }

    deinit {
        slots.deinitialize(count: Self.slotCount)
        slots.deallocate()
        bytes.deallocate()
    }

    /// Copies a datagram in. One thread only.
    func push(
        _ datagram: UnsafeRawBufferPointer, of entry: any TransportEntry, isValidated: Bool, path: MediaPath,
        arrival: MonotonicTime
    ) -> Bool {
        let position = tail.load(ordering: .relaxed)
        guard position - head.load(ordering: .acquiring) < Self.slotCount, datagram.count <= Self.slotByteCount else {
            return false
        }
        let index = position & (Self.slotCount - 1)
        if let base = datagram.baseAddress { (bytes + index * Self.stride).copyMemory(from: base, byteCount: datagram.count) }
        slots[index] = Slot(count: datagram.count, entry: entry, isValidated: isValidated, path: path, arrival: arrival)
        tail.store(position + 1, ordering: .releasing)
        return true
    }

    /// Hands out what waits, in place and in order. One other thread only.
    func drain(_ body: (UnsafeMutableRawBufferPointer, Slot) -> Void) {
        var position = head.load(ordering: .relaxed)
        let end = tail.load(ordering: .acquiring)
        while position < end {
            let index = position & (Self.slotCount - 1)
            body(UnsafeMutableRawBufferPointer(start: bytes + index * Self.stride, count: slots[index].count), slots[index])
            slots[index].entry = nil
            position += 1
        }
        drained.store(end, ordering: .relaxed)
    }

    /// Gives back what `drain` handed out, when nobody reads those bytes any more.
    func release() { head.store(drained.load(ordering: .relaxed), ordering: .releasing) }

    static let slotCount = 128
    static let slotByteCount = 2_048
    /// A slot and the slack that in-place work may touch behind a datagram.
    private static let stride = slotByteCount + 64
}
