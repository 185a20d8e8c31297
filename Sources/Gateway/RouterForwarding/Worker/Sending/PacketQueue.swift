import Wire

/// Packets in order, their bytes in blocks of a pool, each with what its owner must know of it.
@safe
final class PacketQueue<Note> {
    @safe
    struct Entry {
        var bytes: UnsafeRawBufferPointer
        var note: Note
    }

    private let pool: PacketPool
    private var entries: [Entry] = []
    private var head = 0
    /// Blocks that hold entries, oldest first.
    private var blocks: [UnsafeMutableRawPointer] = unsafe []
    /// What is free of the newest block.
    private var room = unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private(set) var byteCount = 0

    /// Entries that an empty queue keeps room for, and those before a queue's first that are cut off together.
    private static var idleCapacity: Int { 128 }

    init(pool: PacketPool) { self.pool = pool }

    var count: Int { entries.count - head }
    var isEmpty: Bool { count == 0 }
    var first: Entry? { isEmpty ? nil : entries[head] }

    /// The `index`th from the front.
    subscript(index: Int) -> Entry { entries[head + index] }

    /// Copies the two pieces behind one another.
    /// - Precondition: together something, and at most a block; packets are datagrams, and longer ones were refused before.
    func append(_ head: UnsafeRawBufferPointer, _ rest: UnsafeRawBufferPointer, note: Note) {
        let count = head.count + rest.count
        precondition(1...PacketPool.blockByteCount ~= count, "a packet is a datagram, and fits a block")
        if unsafe room.count < count { openBlock() }
        let bytes = unsafe UnsafeMutableRawBufferPointer(rebasing: room[..<count])
        unsafe room = UnsafeMutableRawBufferPointer(rebasing: room[count...])
        unsafe bytes.copyBytes(from: head)
        unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[head.count...]).copyBytes(from: rest)
        byteCount += count
        unsafe entries.append(Entry(bytes: UnsafeRawBufferPointer(bytes), note: note))
    }

    func removeFirst(_ count: Int = 1) {
        byteCount -= entries[head..<(head + count)].reduce(0) { unsafe $0 + $1.bytes.count }
        head += count
        if isEmpty { return removeAll() }
        while let oldest = unsafe entries[head].bytes.baseAddress,
            unsafe !(blocks[0]..<blocks[0] + PacketPool.blockByteCount).contains(UnsafeMutableRawPointer(mutating: oldest))
        {
            unsafe pool.give(blocks.removeFirst())
        }
        if head >= Self.idleCapacity, head * 2 >= entries.count {
            entries.removeFirst(head)
            head = 0
        }
    }

    func removeAll() {
        giveBlocksBack()
        if entries.capacity > Self.idleCapacity { entries = [] } else { entries.removeAll(keepingCapacity: true) }
        (head, byteCount) = (0, 0)
    }

    private func openBlock() {
        let block = unsafe pool.take()
        unsafe blocks.append(block)
        unsafe room = UnsafeMutableRawBufferPointer(start: block, count: PacketPool.blockByteCount)
    }

    private func giveBlocksBack() {
        unsafe room = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        while let block = unsafe blocks.popLast() { unsafe pool.give(block) }
    }

    deinit { giveBlocksBack() }
}

/// Blocks of memory that hold packets for a while, shared by all queues of a worker: an IDR burst of one stream is done in
/// milliseconds, and the next one's uses the same memory. What no burst of half a minute has needed goes by halves.
@safe
final class PacketPool {
    /// The one given back last is taken first.
    private(set) var free: [UnsafeMutableRawPointer] = unsafe []
    /// As few as were free at a moment since the last look: that many, from the front, have not been needed.
    private var spareCount = 0
    private var looked = MonotonicTime.zero

    func take() -> UnsafeMutableRawPointer {
        guard let block = unsafe free.popLast() else { return .allocate(byteCount: Self.blockByteCount, alignment: 16) }
        spareCount = unsafe min(spareCount, free.count)
        return unsafe block
    }

    func give(_ block: UnsafeMutableRawPointer) {
        if unsafe free.count < Self.maximumFree { unsafe free.append(block) } else { unsafe block.deallocate() }
    }

    /// Gives half of what has not been needed for half a minute back to the allocator: 4 MiB at most, once in that time.
    func look(at now: MonotonicTime) {
        guard now - looked >= Self.patience else { return }
        for index in 0..<spareCount / 2 { unsafe free[index].deallocate() }
        unsafe free.removeFirst(spareCount / 2)
        unsafe (looked, spareCount) = (now, free.count)
    }

    func giveAllBack() {
        while let block = unsafe free.popLast() { unsafe block.deallocate() }
        spareCount = 0
    }

    deinit { giveAllBack() }

    /// Holds 13 packets of 1,200 bytes: the ring of a small layer takes two or three.
    static let blockByteCount = 16_384
    /// Blocks kept for the next burst (8 MiB); those beyond go back to the allocator.
    static let maximumFree = 512
    /// Three intervals of keyframes that are 10 s apart.
    static let patience = Duration.seconds(30)
}
