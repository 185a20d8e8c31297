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
    /// A bit for each layer that some subscriber of the reader's waits for or gets.
    private let layers = Atomic<UInt8>(0)
    fileprivate let reader: RouterInbox

    init(to reader: RouterInbox) { self.reader = reader }

    deinit { drain { $0.giveBack() } }

    /// Blocks that the reader did not get because it lagged.
    var skippedCount: UInt64 { skipped.load(ordering: .relaxed) }

    /// Layers that nobody of the reader's wants are not copied for it. The reader only.
    func want(_ layers: LayerSet) {
        if layers.rawValue != self.layers.load(ordering: .relaxed) { self.layers.store(layers.rawValue, ordering: .releasing) }
    }

    /// Whether the reader wants packets of the track: sound always.
    func wants(_ track: TrackID) -> Bool {
        track.kind == .audio || LayerSet(rawValue: layers.load(ordering: .acquiring)).contains(track)
    }

    /// The publication's layers, at first and when they change. The publisher's worker only.
    func tell(_ layers: [VideoLayer]) { reader.send(.layers(self, layers)) }

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

/// Layers of one publication, by their places.
struct LayerSet: Sendable, Equatable {
    private(set) var rawValue: UInt8 = 0

    init() {}
    init(rawValue: UInt8) { self.rawValue = rawValue }

    var isEmpty: Bool { rawValue == 0 }

    static let all = LayerSet(rawValue: 1 << PublishCounters.maximumLayerCount - 1)

    func contains(_ track: TrackID) -> Bool { rawValue & Self.bit(of: track) != 0 }
    mutating func insert(_ track: TrackID) { rawValue |= Self.bit(of: track) }
    mutating func remove(_ track: TrackID) { rawValue &= ~Self.bit(of: track) }

    /// What a viewer gets and waits for.
    mutating func insert(_ layers: LayerSwitch) {
        guard let target = layers.target else { return }
        insert(target)
        // Nothing is sent of a layer that rests until the target begins.
        if let flowing = layers.flowing { insert(flowing) }
    }

    private static func bit(of track: TrackID) -> UInt8 { 1 << MediaBlock.place(of: track) }
}

/// The publisher's end of a feed. Confined to its worker.
final class MediaFeedWriter {
    let feed: MediaFeed
    /// When the block in each slot came.
    private var arrivals = [MonotonicTime](repeating: .zero, count: MediaFeed.capacity)
    private var isLagging = false
    /// The layers that go on at their next keyframe and not before.
    private var awaitsKeyframe = LayerSet()

    /// Whether the reader wanted what was looked for last.
    private(set) var isLookingFor = false

    init(_ feed: MediaFeed) { self.feed = feed }

    func looksFor(_ track: TrackID) -> Bool {
        isLookingFor = feed.wants(track)
        return isLookingFor
    }

    enum Outcome {
        case handedOver, skipped, fellBehind
        /// Left out, because its layer goes on at a keyframe only.
        case awaitsKeyframe
    }

    /// Hands a lent block over.
    /// - Returns: `.fellBehind` when the reader begins to lag with this block; unless handed over, the caller gives it back.
    func push(_ block: MediaBlock) -> Outcome {
        let oldest = feed.blocks.oldestHeldSlot
        if isLagging {
            guard oldest == nil else { return skip() }
            isLagging = false
        }
        if block.track.kind == .video, awaitsKeyframe.contains(block.track) {
            // Counted when it fell behind: who gets another layer meanwhile loses nothing.
            guard block.isKeyframe else { return .awaitsKeyframe }
            awaitsKeyframe.remove(block.track)
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
        (isLagging, awaitsKeyframe) = (true, .all)
        _ = skip()
    }

    private func skip() -> Outcome {
        feed.skipped.add(1, ordering: .relaxed)
        return .skipped
    }

    static let maximumLag: Duration = .milliseconds(500)
}
