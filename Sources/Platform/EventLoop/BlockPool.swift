public import Wire

/// What one thread fills and lends to readers on others.
public protocol LentBlock: AnyObject {
    /// Nobody reads it any more: an acquiring load, after the last reader's releasing store.
    var isFree: Bool { get }
}

/// Blocks that are filled and lent again and again: as many as readers hold at most, up to a bound. Confined to the thread that
/// fills them.
///
/// Readers give back roughly in order, so the block that was lent longest ago is the one to take. Where even that one and all
/// others are out there is one more. Where half of them have been spare for half a minute, a quarter goes: what an overload took
/// is free again within minutes, and what keyframes need that lie nearer together never goes.
///
/// Whoever takes a block lends it before taking the next one, or not at all. A reader that has just given its block back may
/// hold the last reference to it.
public struct BlockPool<Block: LentBlock> {
    private let maximumCount: Int
    private let leastCount: Int
    private let make: () -> Block
    /// Those that were lent once, a circle: from `next` on in the order in which they were lent last.
    @usableFromInline var blocks: [Block] = []
    @usableFromInline var next = 0
    /// Made, and never lent: nothing was written to their memory.
    private var fresh: [Block] = []
    /// When a quarter may go, if half are spare until then.
    @usableFromInline var letGoAt = MonotonicTime.zero

    /// - Parameter leastCount: of how many none goes, and that `reserve` makes.
    public init(maximumCount: Int, leastCount: Int = 8, make: @escaping () -> Block) {
        (self.maximumCount, self.leastCount, self.make) = (maximumCount, leastCount, make)
    }

    /// Makes as many as it keeps in any case, so that taking them does not wait for memory.
    public mutating func reserve() {
        while blocks.count + fresh.count < leastCount { fresh.append(make()) }
    }

    /// A block that nobody reads; nil when all are out.
    @inlinable
    public mutating func take(at now: MonotonicTime) -> Block? {
        if !blocks.isEmpty { look(at: now) }
        for _ in blocks.indices {
            let block = blocks[next]
            advance()
            if block.isFree { return block }
        }
        return grow()
    }

    @inlinable mutating func advance() { next = next + 1 < blocks.count ? next + 1 : 0 }

    /// If the block opposite is free, so is what lies before it.
    @inlinable
    mutating func look(at now: MonotonicTime) {
        let opposite = next + blocks.count / 2
        if !blocks[opposite < blocks.count ? opposite : opposite - blocks.count].isFree {
            letGoAt = max(letGoAt, now + Self.patience)
        } else if now >= letGoAt {
            letGo(at: now)
        }
    }

    @usableFromInline
    mutating func grow() -> Block? {
        guard blocks.count < maximumCount else { return nil }
        if blocks.isEmpty { blocks.reserveCapacity(maximumCount) }
        let block = fresh.popLast() ?? make()
        blocks.insert(block, at: next)
        advance()
        return block
    }

    /// Frees memory on a media worker, twice a minute at most. Of those next in turn, where they do not lie around the array's
    /// end: else with one of the next takes.
    @usableFromInline
    mutating func letGo(at now: MonotonicTime) {
        let count = min(blocks.count / 4, blocks.count + fresh.count - leastCount)
        guard next + count <= blocks.count else { return }
        letGoAt = now + Self.patience
        guard count > 0 else { return }
        for index in (next..<next + count).reversed() where blocks[index].isFree { blocks.remove(at: index) }
        if next == blocks.count { next = 0 }
    }

    /// Three intervals of keyframes that are 10 s apart.
    @usableFromInline static var patience: Duration { .seconds(30) }
}
