import StageHub
import Wire

/// The last groups of pictures of an encoder that is not the source, with their sound: a switch need not wait for a keyframe.
///
/// What is kept reaches back to before a source's standstill was noticed: a group goes when the one after it does that as well.
/// Bounded in time, bytes and blocks: a group that grows beyond is let go of, and the next keyframe begins another one.
struct KeptGroup {
    /// The contract's longest interval of keyframes, 2 s, and the tenth that it lets pass.
    static let maximumAge = Duration.milliseconds(2_200)
    static let maximumByteCount = 4_000_000
    /// An encoder of many small pictures must have blocks left: without one nothing of it would come, and nothing be let go of.
    static let maximumPictureBlockCount = FeedBlockPool.maximumOfPictures * 3 / 4
    /// Until a standstill has been noticed: half a second, and the time between two looks.
    static let reach = SourceHealth.patience + JoinedParticipant.lookInterval

    private var blocks: [FeedBlock] = []
    /// Where groups begin, each with a keyframe.
    private var starts: [Int] = []
    private(set) var byteCount = 0
    private var pictureBlockCount = 0

    init() {
        blocks.reserveCapacity(FeedBlockPool.maximumOfPictures + FeedBlockPool.maximumOfSound)
        starts.reserveCapacity(64)  // what reaches back may be keyframes alone, 60 of them a second
    }

    /// It begins with a keyframe: a decoder may start with it.
    var isReady: Bool { !blocks.isEmpty }

    /// Keeps a block, or gives it back.
    mutating func keep(_ block: FeedBlock) {
        if block.followsLoss { removeAll() }
        if block.run.isKeyframe, !isOfThisKeyframe(block) { starts.append(blocks.count) }
        guard !starts.isEmpty else { return block.giveBack() }
        append(block)
        let now = block.run.arrival
        while starts.count > 1, now - blocks[starts[1]].run.arrival >= Self.reach { removeOldest() }
        let age = now - blocks[starts[starts.count - 1]].run.arrival
        let isTooLarge = byteCount > Self.maximumByteCount || pictureBlockCount > Self.maximumPictureBlockCount
        if age > Self.maximumAge || isTooLarge { removeAll() }
    }

    private mutating func append(_ block: FeedBlock) {
        blocks.append(block)
        byteCount += block.byteCount
        if block.run.track.kind == .video { pictureBlockCount += 1 }
    }

    /// Layers' keyframes of one moment are one.
    private func isOfThisKeyframe(_ block: FeedBlock) -> Bool {
        guard let start = starts.last else { return false }
        let first = blocks[start]
        return first.run.track != block.run.track && first.packets.first?.timestamp == block.packets.first?.timestamp
    }

    private mutating func removeOldest() {
        let count = starts[1]
        for block in blocks.prefix(count) {
            byteCount -= block.byteCount
            if block.run.track.kind == .video { pictureBlockCount -= 1 }
            block.giveBack()
        }
        blocks.removeFirst(count)
        starts.removeFirst()
        for index in starts.indices { starts[index] -= count }
    }

    mutating func removeAll() {
        for block in blocks { block.giveBack() }
        clear()
    }

    private mutating func clear() {
        blocks.removeAll(keepingCapacity: true)
        starts.removeAll(keepingCapacity: true)
        (byteCount, pictureBlockCount) = (0, 0)
    }

    /// Hands out what was kept, in order, to be given back by whoever takes it: pictures from the last keyframe on that is
    /// reached, where there is one, and all the sound.
    /// - Parameter isReached: whether the stage has all pictures before those that begin with a block.
    mutating func release(after isReached: (FeedBlock) -> Bool, _ body: (FeedBlock) -> Void) {
        let begins = starts.last { isReached(blocks[$0]) } ?? starts.first ?? 0
        for (index, block) in blocks.enumerated() {
            if index >= begins || block.run.track.kind == .audio { body(block) } else { block.giveBack() }
        }
        clear()
    }
}
