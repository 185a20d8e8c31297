import StageHub
import Synchronization
import Wire

/// Up to sixteen packets of one run, copied once by the publisher's worker and read by every worker that has subscribers
/// (docs/design.md 5.7).
///
/// Safe to share: its publisher's worker alone writes it, before it is lent; then nobody writes until `isFree` says that the
/// last reader is done (an acquiring load after the readers' releasing subtractions), and only that worker fills it again.
final class MediaBlock: Sendable {
    struct Packet {
        var sequenceNumber: Int64
        var timestamp: Int64
        var marker: Bool
        /// Where the RTP payload lies in `bytes`.
        var range: Range<Int>
    }

    /// What the track's RTP time was at a moment, by the publication's timeline: sender reports come from it.
    struct ClockReading {
        var time: MonotonicTime
        var timestamp: Int64
    }

    nonisolated(unsafe) private(set) var bytes: [UInt8] = []
    nonisolated(unsafe) private(set) var packets: [Packet] = []
    nonisolated(unsafe) private(set) var kind = MediaKind.video
    /// A decoder can start with the block's first packet.
    nonisolated(unsafe) private(set) var isKeyframe = false
    nonisolated(unsafe) private(set) var arrival = MonotonicTime.zero
    nonisolated(unsafe) private(set) var clock: ClockReading?
    /// Another number than the block's before: the publisher's sequence numbers and timestamps began anew.
    nonisolated(unsafe) private(set) var epoch: UInt32 = 0
    private let readers = Atomic<Int>(0)

    init() {
        bytes.reserveCapacity(Self.maximumPackets * Self.usualPacketByteCount)
        packets.reserveCapacity(Self.maximumPackets)
    }

    var isFree: Bool { readers.load(ordering: .acquiring) == 0 }

    /// Copies at most `maximumPackets`. Capacity is kept from one filling to the next: a pool that has warmed up does not
    /// allocate.
    func fill(
        _ source: Slice<UnsafeBufferPointer<MediaPacket>>, of run: MediaRun, isKeyframe: Bool, epoch: UInt32, clock: ClockReading?
    ) {
        bytes.removeAll(keepingCapacity: true)
        packets.removeAll(keepingCapacity: true)
        (kind, arrival, self.isKeyframe, self.epoch, self.clock) = (run.track.kind, run.arrival, isKeyframe, epoch, clock)
        for packet in source {
            let start = bytes.count
            for index in 0..<UInt32(packet.headCount) { bytes.append(UInt8(truncatingIfNeeded: packet.head >> (8 * index))) }
            bytes.append(contentsOf: packet.payload)
            packets.append(
                Packet(
                    sequenceNumber: packet.sequenceNumber, timestamp: packet.timestamp, marker: packet.marker,
                    range: start..<bytes.count))
        }
    }

    func lend(toReaders count: Int) { readers.store(count, ordering: .releasing) }
    func giveBack() { readers.subtract(1, ordering: .releasing) }

    /// Long runs go in several blocks, so that none grows to the size of the longest keyframe.
    static let maximumPackets = 16
    private static let usualPacketByteCount = 1_232
}

/// The blocks of one publication. Grows to what its readers hold, up to its bound; then packets are not copied but counted.
struct MediaBlockPool {
    /// Two thirds of a second at 800 blocks a second, 10 MB: the readers keep half a second for retransmission.
    static let maximumBlocks = 512

    private var blocks: [MediaBlock] = []
    private var next = 0

    /// A block nobody reads; nil when all are out.
    mutating func take() -> MediaBlock? {
        for _ in 0..<blocks.count {
            next = next + 1 < blocks.count ? next + 1 : 0
            if blocks[next].isFree { return blocks[next] }
        }
        guard blocks.count < Self.maximumBlocks else { return nil }
        blocks.append(MediaBlock())
        return blocks[blocks.count - 1]
    }
}
