/// Packets in order, their bytes in blocks of a pool, each with what its owner must know of it.
final class PacketQueue<Note> {
    struct Entry {
        var bytes: UnsafeRawBufferPointer
        var note: Note
        fileprivate var block: Int
    }

    private let pool: PacketPool
    private var entries: [Entry] = []
    private var head = 0
    /// Blocks that hold entries, oldest first; the number of the first one is `firstBlock`.
    private var blocks: [UnsafeMutableRawPointer] = []
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
            blocks.append(pool.take())
            used = 0
        }
        let start = blocks[blocks.count - 1] + used
        UnsafeMutableRawBufferPointer(start: start, count: head.count).copyBytes(from: head)
        UnsafeMutableRawBufferPointer(start: start + head.count, count: rest.count).copyBytes(from: rest)
        used += count
        byteCount += count
        self.count += 1
        let bytes = UnsafeRawBufferPointer(start: start, count: count)
        entries.append(Entry(bytes: bytes, note: note, block: firstBlock + blocks.count - 1))
    }

    func removeFirst(_ count: Int = 1) {
        for index in head..<(head + count) { byteCount -= entries[index].bytes.count }
        head += count
        self.count -= count
        if isEmpty { return removeAll() }
        while firstBlock < entries[head].block {
            pool.give(blocks.removeFirst())
            firstBlock += 1
        }
        if head >= 1024, head * 2 >= entries.count {
            entries.removeFirst(head)
            head = 0
        }
    }

    func removeAll() {
        for block in blocks { pool.give(block) }
        blocks.removeAll(keepingCapacity: true)
        if entries.capacity > Self.idleCapacity { entries = [] } else { entries.removeAll(keepingCapacity: true) }
        (head, count, firstBlock, used, byteCount) = (0, 0, 0, PacketPool.blockByteCount, 0)
    }

    deinit { for block in blocks { pool.give(block) } }
}
