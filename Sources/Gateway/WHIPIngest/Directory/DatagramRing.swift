import Synchronization
import Wire

/// Datagrams of owned sessions that landed on another worker, from one worker to one other: 128 slots of 2 KB, full = dropped.
final class DatagramRing: Sendable {
    struct Slot {
        var count: Int
        var path: MediaPath
        var arrival: MonotonicTime
    }

    /// Safe to share: one thread writes the slots in [tail, tail + 128) that the other is done with and then moves `tail` with
    /// release; the other reads slots in [head, tail) after an acquiring load and then moves `head` with release.
    nonisolated(unsafe) private let slots: UnsafeMutablePointer<Slot>
    nonisolated(unsafe) private let bytes: UnsafeMutableRawPointer
    private let head = Atomic<Int>(0)
    private let tail = Atomic<Int>(0)
    private let dropped = Atomic<Int>(0)

    init() {
        slots = .allocate(capacity: Self.slotCount)
        slots.initialize(
            repeating: Slot(count: 0, path: MediaPath(remote: SocketAddress(.anyV4, port: 0)), arrival: .zero),
            count: Self.slotCount)
        bytes = .allocate(byteCount: Self.slotCount * Self.stride, alignment: 64)
    }

    deinit {
        slots.deinitialize(count: Self.slotCount)
        slots.deallocate()
        bytes.deallocate()
    }

    var droppedCount: Int { dropped.load(ordering: .relaxed) }

    /// Copies a datagram in. One thread only.
    func push(_ datagram: UnsafeRawBufferPointer, path: MediaPath, arrival: MonotonicTime) -> Bool {
        let position = tail.load(ordering: .relaxed)
        guard position - head.load(ordering: .acquiring) < Self.slotCount, datagram.count <= Self.slotByteCount else {
            dropped.wrappingAdd(1, ordering: .relaxed)
            return false
        }
        let index = position & (Self.slotCount - 1)
        if let base = datagram.baseAddress { (bytes + index * Self.stride).copyMemory(from: base, byteCount: datagram.count) }
        slots[index] = Slot(count: datagram.count, path: path, arrival: arrival)
        tail.store(position + 1, ordering: .releasing)
        return true
    }

    /// Hands out what waits, in place and in order. One other thread only.
    func drain(_ body: (UnsafeMutableRawBufferPointer, MediaPath, MonotonicTime) -> Void) {
        var position = head.load(ordering: .relaxed)
        let end = tail.load(ordering: .acquiring)
        while position < end {
            let index = position & (Self.slotCount - 1)
            let slot = slots[index]
            body(UnsafeMutableRawBufferPointer(start: bytes + index * Self.stride, count: slot.count), slot.path, slot.arrival)
            position += 1
        }
        head.store(position, ordering: .releasing)
    }

    static let slotCount = 128
    static let slotByteCount = 2_048
    /// A slot and the slack that in-place work may touch behind a datagram.
    private static let stride = slotByteCount + 64
}
