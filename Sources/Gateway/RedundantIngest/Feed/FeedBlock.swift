import EventLoop
import StageHub
import Synchronization
import Wire

/// Packets of one run of an encoder's media, copied once by its worker and read by the worker that joins its participant.
///
/// Safe to share: the encoder's worker alone writes it, before it is lent; then it is the reader's until `giveBack`, and only
/// that worker fills it again (`isFree` is an acquiring load after the reader's releasing store).
@safe
final class FeedBlock: LentBlock, Sendable {
    /// What became known of a track, whichever this run is of.
    struct News: Sendable {
        var track: TrackID
        var format: TrackFormat?
        /// Of video: its size and the encoder's name of it.
        var layer: VideoLayer?
    }

    private struct Content {
        var byteCount = 0
        /// Their payloads lie in `memory`.
        var packets: [MediaPacket] = []
        var run = MediaRun(track: .video, isKeyframe: false, arrival: .zero)
        var isLast = false
        var news: [News] = []
        var followsLoss = false

        mutating func fill(
            _ source: Slice<UnsafeBufferPointer<MediaPacket>>, of run: MediaRun, news: [News], followsLoss: Bool,
            in memory: UnsafeMutableRawBufferPointer
        ) -> Int {
            packets.removeAll(keepingCapacity: true)
            (byteCount, self.run, self.news, self.followsLoss) = (0, run, news, followsLoss)
            var count = 0
            while unsafe count < Swift.min(source.count, FeedBlock.maximumPackets),
                unsafe append(source[source.startIndex + count], in: memory)
            {
                count += 1
            }
            isLast = unsafe count == source.count
            return count
        }

        /// - Returns: false where there is no room.
        private mutating func append(_ packet: MediaPacket, in memory: UnsafeMutableRawBufferPointer) -> Bool {
            let room = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[byteCount...])
            guard let copy = unsafe packet.copied(into: room) else { return false }
            packets.append(copy)
            byteCount += copy.payloadByteCount
            return true
        }
    }

    /// Written and read by whoever has the block, as `content` is.
    nonisolated(unsafe) private let memory: UnsafeMutableRawBufferPointer
    /// Filled by one call: each access of a shared object's variable is checked for exclusiveness.
    nonisolated(unsafe) private var content = Content()
    private let isLent = Atomic<Bool>(false)

    /// - Parameter byteCount: of the payloads that there is room for.
    init(byteCount: Int = size) {
        unsafe memory = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 16)
        unsafe content.packets.reserveCapacity(Self.maximumPackets)
    }

    deinit { unsafe memory.deallocate() }

    /// Valid until the block is given back.
    var packets: [MediaPacket] { unsafe content.packets }
    var byteCount: Int { unsafe content.byteCount }
    /// What its packets are of; a keyframe's where a decoder can start with the first of them.
    var run: MediaRun { unsafe content.run }
    /// The run ends with it.
    var isLast: Bool { unsafe content.isLast }
    var news: [News] { unsafe content.news }
    /// Something before it was lost on the way: there was no block for it.
    var followsLoss: Bool { unsafe content.followsLoss }

    var isFree: Bool { !isLent.load(ordering: .acquiring) }
    func lend() { isLent.store(true, ordering: .releasing) }
    func giveBack() { isLent.store(false, ordering: .releasing) }

    /// Copies as many packets as there is room for. A block that has been used before does not allocate.
    /// - Returns: how many; 0 for a packet that no block has room for.
    func fill(_ source: Slice<UnsafeBufferPointer<MediaPacket>>, of run: MediaRun, news: [News], followsLoss: Bool) -> Int {
        unsafe content.fill(source, of: run, news: news, followsLoss: followsLoss, in: memory)
    }

    /// Long runs go in several blocks, so that none grows to the size of the longest keyframe.
    static let maximumPackets = 16
    /// Sixteen packets of ours, or a few of the largest that encoders send; pages that nothing was written to cost nothing.
    static let size = maximumPackets * 1_232
    /// A few frames of sound, or the longest one that Opus knows; a packet of several may be longer.
    static let sizeForSound = 2_048
}

/// The blocks of one encoder: as many as its reader holds; beyond, packets are not copied but counted.
typealias FeedBlockPool = BlockPool<FeedBlock>

extension FeedBlockPool {
    /// What a reader keeps (`KeptGroup`) at 60 pictures a second in three layers, and a quarter of them beside it.
    static var maximumOfPictures: Int { 960 }
    /// The same of sound in frames of 5 ms.
    static var maximumOfSound: Int { 480 }

    static var ofPictures: Self { Self(maximumCount: maximumOfPictures) { FeedBlock(byteCount: FeedBlock.size) } }
    /// Blocks of its own: sooner or later each block of pictures has been full of a keyframe.
    static var ofSound: Self { Self(maximumCount: maximumOfSound) { FeedBlock(byteCount: FeedBlock.sizeForSound) } }
}
