import EventLoop
import Synchronization
import Wire

/// References to blocks on their way from one publication's worker to one worker that has subscribers of it.
///
/// A reader that lags half a second gets nothing until the next keyframe; it never delays the publisher (docs/design.md 5.7).
final class MediaFeed: Sendable {
    /// Safe to share: one thread writes the slots in [tail, tail + capacity) that the other is done with and then moves `tail`
    /// with release; the other takes slots in [head, tail) after an acquiring load and then moves `head` with release.
    nonisolated(unsafe) private let slots: UnsafeMutablePointer<MediaBlock?>
    private let head = Atomic<Int>(0)
    private let tail = Atomic<Int>(0)
    /// The writer's own notes; nobody else looks at them.
    nonisolated(unsafe) private let arrivals: UnsafeMutablePointer<MonotonicTime>
    nonisolated(unsafe) private var isLagging = false
    private let skipped = Atomic<UInt64>(0)
    private let reader: RouterDoor

    init(to reader: RouterDoor) {
        self.reader = reader
        slots = .allocate(capacity: Self.capacity)
        slots.initialize(repeating: nil, count: Self.capacity)
        arrivals = .allocate(capacity: Self.capacity)
        arrivals.initialize(repeating: .zero, count: Self.capacity)
    }

    deinit {
        drain { $0.giveBack() }
        slots.deinitialize(count: Self.capacity)
        slots.deallocate()
        arrivals.deallocate()
    }

    /// Blocks that the reader did not get because it lagged.
    var skippedCount: UInt64 { skipped.load(ordering: .relaxed) }

    enum Outcome { case handedOver, skipped, fellBehind }

    /// Hands a lent block over. The writer only.
    /// - Returns: `.fellBehind` when the reader begins to lag with this block; unless handed over, the caller gives it back.
    func push(_ block: MediaBlock) -> Outcome {
        let position = tail.load(ordering: .relaxed)
        let oldest = head.load(ordering: .acquiring)
        if isLagging {
            guard block.isKeyframe, oldest == position else { return skip() }
            isLagging = false
        }
        let isLate = oldest < position && block.arrival - arrivals[oldest & Self.mask] > Self.maximumLag
        guard !isLate, position - oldest < Self.capacity else {
            isLagging = true
            _ = skip()
            return .fellBehind
        }
        slots[position & Self.mask] = block
        arrivals[position & Self.mask] = block.arrival
        tail.store(position + 1, ordering: .releasing)
        reader.wake()
        return .handedOver
    }

    /// The publisher had no block for what came: the reader goes on at the next keyframe. The writer only.
    func fallBehind() {
        isLagging = true
        _ = skip()
    }

    /// Nothing more comes. The writer only.
    func end() { reader.send(.ended(self)) }

    private func skip() -> Outcome {
        skipped.add(1, ordering: .relaxed)
        return .skipped
    }

    /// Takes what waits, in order; whoever takes a block gives it back. The reader only.
    func drain(_ body: (MediaBlock) -> Void) {
        var position = head.load(ordering: .relaxed)
        let end = tail.load(ordering: .acquiring)
        while position < end {
            let index = position & Self.mask
            if let block = slots[index] {
                slots[index] = nil
                body(block)
            }
            position += 1
            head.store(position, ordering: .releasing)
        }
    }

    static let capacity = 512
    private static let mask = capacity - 1
    static let maximumLag: Duration = .milliseconds(500)
}

/// The way into one worker's part of the embedded router: its mailbox, and a wake-up that is sent once until it is answered.
final class RouterDoor: Sendable {
    private let sender = Lock<MailboxSender<RouterMessage>?>(nil)
    private let isAwake = Atomic<Bool>(false)

    func open(_ sender: MailboxSender<RouterMessage>) { self.sender.withLock { $0 = sender } }
    func send(_ message: RouterMessage) { _ = sender.withLock { $0 }?.send(message) }

    /// Tells the worker that a feed of its has blocks; further ones need no telling until it has looked.
    func wake() {
        if !isAwake.exchange(true, ordering: .acquiringAndReleasing) { send(.media) }
    }

    /// The worker is about to look at all its feeds.
    func looked() { _ = isAwake.exchange(false, ordering: .acquiringAndReleasing) }
}

/// What the publishers' and the subscribers' workers say to each other.
enum RouterMessage: Sendable {
    /// Feeds of yours have blocks.
    case media
    /// To the publisher's worker: the first subscriber on another worker has come; the last has gone.
    case subscribe(LiveTap, MediaFeed)
    case unsubscribe(LiveTap, MediaFeed)
    case keyframeWanted(LiveTap)
    /// To every worker: somebody may have waited for this publication.
    case began(LiveTap)
    /// To the subscribers' worker: nothing more comes by that feed.
    case ended(MediaFeed)
}
