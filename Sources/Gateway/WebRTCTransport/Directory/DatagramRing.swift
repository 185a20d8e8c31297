import EventLoop
import Wire

/// Datagrams of owned sessions that landed on another worker, from one worker to one other: 128 slots of 2 KB, full = dropped.
@safe final class DatagramRing: Sendable {
    struct Slot: Sendable {
        var count: Int
        var entry: any TransportEntry
        /// False for a packet that is only tried, from a tuple without a check.
        var isValidated: Bool
        var path: MediaPath
        var arrival: MonotonicTime
    }

    private let ring = SingleProducerRing<Slot>(capacity: slotCount)
    /// Safe to share: the bytes of a slot belong to whom `ring` says that the slot belongs to.
    nonisolated(unsafe) private let bytes = UnsafeMutableRawPointer.allocate(byteCount: slotCount * stride, alignment: 64)

    deinit { unsafe bytes.deallocate() }

    /// Copies a datagram in. One thread only.
    /// - Returns: false when the ring is full, or the datagram longer than a slot.
    func push(
        _ datagram: UnsafeRawBufferPointer, of entry: any TransportEntry, isValidated: Bool, path: MediaPath,
        arrival: MonotonicTime
    ) -> Bool {
        guard datagram.count <= Self.slotByteCount else { return false }
        return ring.push { slot in
            unsafe place(of: slot, byteCount: datagram.count).copyMemory(from: datagram)
            return Slot(count: datagram.count, entry: entry, isValidated: isValidated, path: path, arrival: arrival)
        }
    }

    /// Hands out what waits, in place and in order; the bytes stay until `release`. One other thread only.
    func drain(_ body: (UnsafeMutableRawBufferPointer, Slot) -> Void) {
        ring.drain { slot, datagram in unsafe body(place(of: slot, byteCount: datagram.count), datagram) }
    }

    /// Gives back what `drain` handed out, when nobody reads those bytes any more.
    func release() { ring.release() }

    private func place(of slot: Int, byteCount: Int) -> UnsafeMutableRawBufferPointer {
        unsafe UnsafeMutableRawBufferPointer(start: bytes + slot * Self.stride, count: byteCount)
    }

    static let slotCount = 128
    static let slotByteCount = 2_048
    /// A slot and the slack that in-place work may touch behind a datagram.
    private static let stride = slotByteCount + 64
}
