import EventLoop
import Synchronization

/// The blocks of one publish on their way to the writer's thread. The writer looks by itself, some ten times a second: a worker
/// that hands a block over wakes nobody.
final class RecordingFeed: Sendable {
    /// As many as the pool has at most.
    private let blocks = SingleProducerRing<RecordingBlock>(capacity: 128)
    private let hasEnded = Atomic<Bool>(false)

    /// The publication's worker only.
    func push(_ block: RecordingBlock) {
        block.lend()
        if !blocks.push({ _ in block }) { block.giveBack() }  // the ring is larger than the pool: this does not happen
    }

    /// Nothing more comes. The publication's worker only, after the last block.
    func end() { hasEnded.store(true, ordering: .releasing) }

    /// Takes what waits, in order. The writer only.
    /// - Returns: whether nothing more comes.
    func drain(_ body: (RecordingBlock) -> Void) -> Bool {
        let isLast = hasEnded.load(ordering: .acquiring)
        blocks.drain { _, block in
            body(block)
            // Its place first: it may be filled and pushed again while those behind it are still being read.
            blocks.release()
            block.giveBack()
        }
        return isLast
    }
}
