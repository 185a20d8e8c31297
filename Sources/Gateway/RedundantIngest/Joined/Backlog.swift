import Wire

/// What is kept of a source that begins, on its way to the stage: seconds of media, more at once than a receiver's socket holds.
///
/// All of it goes within a tenth of a second, evenly; what comes meanwhile waits behind it.
struct Backlog {
    static let stepInterval = Duration.milliseconds(2)
    private static let longest = Duration.milliseconds(100)
    /// As few packets as a step has: 40 Mbit/s.
    private static let smallestStep = 8

    private var blocks: [FeedBlock] = []
    private var sentBlocks = 0
    private var began = MonotonicTime.zero
    /// In packets.
    private var step = smallestStep
    private var sentPackets = 0
    private var isHurried = false

    init() { blocks.reserveCapacity(FeedBlockPool.maximumOfPictures + FeedBlockPool.maximumOfSound) }

    var isEmpty: Bool { sentBlocks == blocks.count }

    mutating func append(_ block: FeedBlock) { blocks.append(block) }

    /// All that is there now is to go from now on.
    mutating func begin(at now: MonotonicTime) {
        let count = blocks.reduce(0) { $0 + $1.packets.count }
        let steps = Int(Self.longest / Self.stepInterval)
        (began, sentPackets, step) = (now, 0, max(Self.smallestStep, (count + steps - 1) / steps))
    }

    /// The next block, to be given back by whoever takes it; nil when it is not due yet, or nothing is left.
    mutating func next(at now: MonotonicTime) -> FeedBlock? {
        guard !isEmpty else { return nil }
        guard isHurried || sentPackets < step * (1 + Int((now - began) / Self.stepInterval)) else { return nil }
        let block = blocks[sentBlocks]
        sentBlocks += 1
        sentPackets += block.packets.count
        if isEmpty { clear() }
        return block
    }

    /// All that is left is due.
    mutating func hurry() { isHurried = true }

    mutating func removeAll() {
        for block in blocks[sentBlocks...] { block.giveBack() }
        clear()
    }

    private mutating func clear() {
        blocks.removeAll(keepingCapacity: true)
        (sentBlocks, isHurried) = (0, false)
    }
}
