/// Blocks of memory that hold packets for a while, shared by all queues of a worker: an IDR burst of one stream is done in
/// milliseconds, and the next one's uses the same memory.
final class PacketPool {
    /// Holds 54 packets of 1,200 bytes.
    static let blockByteCount = 65_536
    /// Blocks kept for the next burst (8 MiB); those beyond go back to the allocator.
    static let maximumFree = 128

    private var free: [UnsafeMutableRawPointer] = []

    func take() -> UnsafeMutableRawPointer { free.popLast() ?? .allocate(byteCount: Self.blockByteCount, alignment: 16) }

    func give(_ block: UnsafeMutableRawPointer) {
        if free.count < Self.maximumFree { free.append(block) } else { block.deallocate() }
    }

    deinit { for block in free { block.deallocate() } }
}
