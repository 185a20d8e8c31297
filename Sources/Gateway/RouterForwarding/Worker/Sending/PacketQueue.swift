/// Packets in order, their bytes in blocks of a pool, each with what its owner must know of it.
@safe
final class PacketQueue<Note> {
    @safe
    struct Entry {
        var bytes: UnsafeRawBufferPointer
        var note: Note
        fileprivate var block: Int
    }

    private let pool: PacketPool
    private var entries: [Entry] = []
    private var head = 0
    /// Blocks that hold entries, oldest first; the number of the first one is `firstBlock`.
    private var blocks: [UnsafeMutableRawPointer] = unsafe []
    private var firstBlock = 0
    private var used = PacketPool.blockByteCount
    private(set) var byteCount = 0

    /// Entries that an empty queue keeps room for.
    private static var idleCapacity: Int { 128 }

    init(pool: PacketPool) { self.pool = pool }

    private(set) var count = 0
    var isEmpty: Bool { count == 0 }
    var first: Entry? { isEmpty ? nil : entries[head] }

    /// The `index`th from the front.
    subscript(index: Int) -> Entry { entries[head + index] }

    /// Copies the two pieces behind one another.
    /// - Precondition: together at most a block; packets are datagrams, and longer ones were refused before.
    func append(_ head: UnsafeRawBufferPointer, _ rest: UnsafeRawBufferPointer, note: Note) {
        let count = head.count + rest.count
        precondition(count <= PacketPool.blockByteCount, "a packet is a datagram, and fits a block")
        if used + count > PacketPool.blockByteCount {
            unsafe blocks.append(pool.take())
            used = 0
        }
        let start = unsafe blocks[blocks.count - 1] + used
        unsafe UnsafeMutableRawBufferPointer(start: start, count: head.count).copyBytes(from: head)
        unsafe UnsafeMutableRawBufferPointer(start: start + head.count, count: rest.count).copyBytes(from: rest)
        used += count
        byteCount += count
        self.count += 1
        let bytes = unsafe UnsafeRawBufferPointer(start: start, count: count)
        unsafe entries.append(Entry(bytes: bytes, note: note, block: firstBlock + blocks.count - 1))
    }

    func removeFirst(_ count: Int = 1) {
        for index in head..<(head + count) { unsafe byteCount -= entries[index].bytes.count }
        head += count
        self.count -= count
        if isEmpty { return removeAll() }
        while firstBlock < entries[head].block {
            unsafe pool.give(blocks.removeFirst())
            firstBlock += 1
        }
        if head >= 1024, head * 2 >= entries.count {
            entries.removeFirst(head)
            head = 0
        }
    }

    func removeAll() {
        giveBlocksBack()
        if entries.capacity > Self.idleCapacity { entries = [] } else { entries.removeAll(keepingCapacity: true) }
        (head, count, firstBlock, used, byteCount) = (0, 0, 0, PacketPool.blockByteCount, 0)
    }

    /// Keeps the room for as many.
    private func giveBlocksBack() {
        while let block = unsafe blocks.popLast() { unsafe pool.give(block) }
    }

    deinit { giveBlocksBack() }
}

/// Blocks of memory that hold packets for a while, shared by all queues of a worker: an IDR burst of one stream is done in
/// milliseconds, and the next one's uses the same memory.
@safe
final class PacketPool {
    /// Holds 13 packets of 1,200 bytes: the ring of a small layer takes two or three.
    static let blockByteCount = 16_384
    /// Blocks kept for the next burst (8 MiB); those beyond go back to the allocator.
    static let maximumFree = 512

    private var free: [UnsafeMutableRawPointer] = unsafe []

    func take() -> UnsafeMutableRawPointer { unsafe free.popLast() ?? .allocate(byteCount: Self.blockByteCount, alignment: 16) }

    func give(_ block: UnsafeMutableRawPointer) {
        if unsafe free.count < Self.maximumFree { unsafe free.append(block) } else { unsafe block.deallocate() }
    }

    deinit { while let block = unsafe free.popLast() { unsafe block.deallocate() } }
}
