import EventLoop
import StageHub
import Synchronization
import Wire

/// Up to sixteen packets of one run, copied once by the publisher's worker and read by every worker that has subscribers
/// (docs/design.md 5.7).
///
/// Safe to share: its publisher's worker alone writes it, before it is lent; then nobody writes until `isFree` says that the
/// last reader is done (an acquiring load after the readers' releasing subtractions), and only that worker fills it again.
final class MediaBlock: LentBlock, Sendable {
    struct Packet {
        var sequenceNumber: Int64
        var timestamp: Int64
        var marker: Bool
        /// Where the RTP payload lies in `bytes`.
        var range: Range<Int>
    }

    /// What makes timestamps of this layer those of another one, by that one's place; nil where it is not known.
    typealias Shifts = ByLayer<Int64?>

    /// What the track's RTP time was at a moment, by the publication's timeline: sender reports come from it.
    struct ClockReading {
        var time: MonotonicTime
        var timestamp: Int64
    }

    private struct Content {
        var bytes: [UInt8] = []
        var packets: [Packet] = []
        var run = MediaRun(track: .video, isKeyframe: false, arrival: .zero)
        var shifts = Shifts(repeating: nil)
        var clock: ClockReading?
        var epoch: UInt32 = 0

        mutating func fill(
            _ source: Slice<UnsafeBufferPointer<MediaPacket>>, of run: MediaRun, epoch: UInt32, clock: ClockReading?,
            shifts: Shifts
        ) {
            bytes.removeAll(keepingCapacity: true)
            packets.removeAll(keepingCapacity: true)
            (self.run, self.epoch, self.clock, self.shifts) = (run, epoch, clock, shifts)
            // Not its `indices`, which ask the runtime for types by each call.
            for index in unsafe source.startIndex..<source.endIndex { unsafe append(source[index]) }
        }

        private mutating func append(_ packet: MediaPacket) {
            let start = bytes.count
            packet.appendPayload(to: &bytes)
            packets.append(
                Packet(
                    sequenceNumber: packet.sequenceNumber, timestamp: packet.timestamp, marker: packet.marker,
                    range: start..<bytes.count))
        }
    }

    /// Filled by one call: each access of a shared object's variable is checked for exclusiveness.
    nonisolated(unsafe) private var content = Content()
    private let readers = Atomic<Int>(0)

    init() {
        unsafe content.bytes.reserveCapacity(Self.maximumPackets * Self.usualPacketByteCount)
        unsafe content.packets.reserveCapacity(Self.maximumPackets)
    }

    var bytes: [UInt8] { unsafe content.bytes }
    var packets: [Packet] { unsafe content.packets }
    /// The run that its packets are from; a keyframe's where a decoder can start with the first of them.
    var run: MediaRun { unsafe content.run }
    var track: TrackID { unsafe content.run.track }
    var isKeyframe: Bool { unsafe content.run.isKeyframe }
    var arrival: MonotonicTime { unsafe content.run.arrival }
    var clock: ClockReading? { unsafe content.clock }
    /// Of a keyframe: where a viewer comes from the layer `former`, its timestamps go on by this.
    func shift(from former: TrackID) -> Int64? { unsafe content.shifts[Self.place(of: former)] }
    /// Another number than the block's before: the publisher's sequence numbers and timestamps began anew.
    var epoch: UInt32 { unsafe content.epoch }

    var isFree: Bool { readers.load(ordering: .acquiring) == 0 }

    /// Copies at most `maximumPackets`. Capacity is kept from one filling to the next: a pool that has warmed up does not
    /// allocate.
    /// - Parameter run: a keyframe's only with its first packet.
    func fill(
        _ source: Slice<UnsafeBufferPointer<MediaPacket>>, of run: MediaRun, epoch: UInt32, clock: ClockReading?,
        shifts: Shifts = Shifts(repeating: nil)
    ) {
        unsafe content.fill(source, of: run, epoch: epoch, clock: clock, shifts: shifts)
    }

    /// Where a layer stands in tables by layer.
    static func place(of track: TrackID) -> Int { min(Int(track.layer), PublishCounters.maximumLayerCount - 1) }

    func lend(toReaders count: Int) { readers.store(count, ordering: .releasing) }
    func giveBack() { readers.subtract(1, ordering: .releasing) }

    /// Long runs go in several blocks, so that none grows to the size of the longest keyframe.
    static let maximumPackets = 16
    private static let usualPacketByteCount = 1_232
}

/// The blocks of one publication: as many as its readers hold; beyond, packets are not copied but counted.
typealias MediaBlockPool = BlockPool<MediaBlock>

extension MediaBlockPool {
    init() { self.init(maximumCount: Self.maximumBlocks, leastCount: Self.reservedBlocks, make: MediaBlock.init) }

    /// Two thirds of a second at 800 blocks a second, 10 MB: the readers keep half a second for retransmission.
    static var maximumBlocks: Int { 512 }
    /// What a stream takes that catches up half a second: half a second of video that is kept for retransmission, and as much
    /// behind, at 60 frames of two blocks a second.
    private static var reservedBlocks: Int { 128 }
}
