import EventLoop
import StageHub
import Synchronization
import Wire

/// References to blocks on their way from one publication's worker to one worker that has subscribers of it.
///
/// A reader that lags half a second gets nothing until it has caught up, and video from the next keyframe on; it never delays the
/// publisher (docs/design.md 5.7).
final class MediaFeed: Sendable {
    fileprivate let blocks = SingleProducerRing<MediaBlock>(capacity: capacity)
    fileprivate let skipped = Atomic<UInt64>(0)
    fileprivate let reader: RouterInbox

    init(to reader: RouterInbox) { self.reader = reader }

    deinit { drain { $0.giveBack() } }

    /// Blocks that the reader did not get because it lagged.
    var skippedCount: UInt64 { skipped.load(ordering: .relaxed) }

    /// Nothing more comes. The publisher's worker only.
    func end() { reader.send(.ended(self)) }

    /// Takes what waits, in order; whoever takes a block gives it back. The reader only.
    func drain(_ body: (MediaBlock) -> Void) {
        blocks.drain { _, block in
            body(block)
            blocks.release()
        }
    }

    static let capacity = 512
}

/// The publisher's end of a feed. Confined to its worker.
final class MediaFeedWriter {
    let feed: MediaFeed
    /// When the block in each slot came.
    private var arrivals = [MonotonicTime](repeating: .zero, count: MediaFeed.capacity)
    private var isLagging = false
    private var awaitsKeyframe = false

    init(_ feed: MediaFeed) { self.feed = feed }

    enum Outcome { case handedOver, skipped, fellBehind }

    /// Hands a lent block over.
    /// - Returns: `.fellBehind` when the reader begins to lag with this block; unless handed over, the caller gives it back.
    func push(_ block: MediaBlock) -> Outcome {
        let oldest = feed.blocks.oldestHeldSlot
        if isLagging {
            guard oldest == nil else { return skip() }
            isLagging = false
        }
        if awaitsKeyframe, block.kind == .video {
            guard block.isKeyframe else { return skip() }
            awaitsKeyframe = false
        }
        let isLate = oldest.map { block.arrival - arrivals[$0] > Self.maximumLag } ?? false
        let isPushed =
            !isLate
            && feed.blocks.push { slot in
                arrivals[slot] = block.arrival
                return block
            }
        guard isPushed else {
            fallBehind()
            return .fellBehind
        }
        feed.reader.wake()
        return .handedOver
    }

    /// The publisher had no block for what came: the reader's video goes on at the next keyframe.
    func fallBehind() {
        (isLagging, awaitsKeyframe) = (true, true)
        _ = skip()
    }

    private func skip() -> Outcome {
        feed.skipped.add(1, ordering: .relaxed)
        return .skipped
    }

    static let maximumLag: Duration = .milliseconds(500)
}
