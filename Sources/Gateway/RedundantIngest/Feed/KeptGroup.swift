import StageHub
import Wire

/// The last group of pictures of an encoder that is not the source, with its sound: a switch need not wait for a keyframe.
///
/// Bounded in time and bytes: a group that grows beyond is let go of, and the next keyframe begins another one.
struct KeptGroup {
    /// The contract's longest interval of keyframes, 2 s, and the tenth that it lets pass.
    static let maximumAge = Duration.milliseconds(2_200)
    static let maximumByteCount = 4_000_000

    private var blocks: [FeedBlock] = []
    private var byteCount = 0

    init() { blocks.reserveCapacity(FeedBlockPool.maximumBlocks) }

    /// It begins with a keyframe: a decoder may start with it.
    var isReady: Bool { !blocks.isEmpty }

    /// Keeps a block, or gives it back.
    mutating func keep(_ block: FeedBlock) {
        if block.followsLoss { removeAll() }
        if block.run.isKeyframe, !isOfThisKeyframe(block) { removeAll() }
        guard isReady || block.run.isKeyframe else { return block.giveBack() }
        blocks.append(block)
        byteCount += block.byteCount
        let age = blocks[0].run.arrival.duration(to: block.run.arrival)
        if age > Self.maximumAge || byteCount > Self.maximumByteCount { removeAll() }
    }

    /// Layers' keyframes of one moment are one.
    private func isOfThisKeyframe(_ block: FeedBlock) -> Bool {
        guard let first = blocks.first else { return false }
        return first.run.track != block.run.track && first.packets.first?.timestamp == block.packets.first?.timestamp
    }

    mutating func removeAll() {
        for block in blocks { block.giveBack() }
        blocks.removeAll(keepingCapacity: true)
        byteCount = 0
    }

    /// Hands out what was kept, in order, to be given back by whoever takes it.
    mutating func release(_ body: (FeedBlock) -> Void) {
        for block in blocks { body(block) }
        blocks.removeAll(keepingCapacity: true)
        byteCount = 0
    }
}
