import EventLoop
import StageHub
import Synchronization
import Wire

/// What one publication brought in a fraction of a second, copied once by its worker and read once by the writer's thread.
///
/// Safe to share: the worker alone writes it, before it goes into the ring; then it is the reader's until `isFree` says that it
/// is done, and only that worker fills it again.
final class RecordingBlock: LentBlock, Sendable {
    /// What came, in order; ranges lie in `bytes`.
    enum Entry {
        /// An RTP packet of the hub: of audio, or of the layer of video that is recorded.
        case packet(MediaKind, sequenceNumber: Int64, timestamp: Int64, marker: Bool, Range<Int>)
        /// A frame of audio as the encoder sent it, at that time of the session.
        case sourceFrame(mediaTime: Duration, Range<Int>)
        case sourceFormat(SourceAudioFormat)
        case opusFormat(isStereo: Bool)
        /// What a track's RTP time was at a moment.
        case clock(MediaKind, time: MonotonicTime, timestamp: Int64)
        /// Video goes on with another layer, whose timestamps become the former one's by this; nil where nobody knows.
        case layerBegan(shift: Int64?)
        /// Numbers and timestamps of all tracks begin anew.
        case restarted
        /// There was no block for what came before this.
        case lost
    }

    private struct Content {
        var bytes: [UInt8] = []
        var entries: [Entry] = []
        var began = MonotonicTime.zero

        var isFull: Bool {
            entries.count >= RecordingBlock.maximumEntries
                || bytes.count >= RecordingBlock.usualByteCount - RecordingBlock.largestPacket
        }

        mutating func append(_ packets: Slice<UnsafeBufferPointer<MediaPacket>>, of kind: MediaKind) -> Int {
            var count = 0
            repeat {
                unsafe append(packets[packets.startIndex + count], of: kind)
                count += 1
            } while unsafe count < packets.count && !isFull
            return count
        }

        private mutating func append(_ packet: MediaPacket, of kind: MediaKind) {
            let start = bytes.count
            packet.appendPayload(to: &bytes)
            entries.append(
                .packet(
                    kind, sequenceNumber: packet.sequenceNumber, timestamp: packet.timestamp, marker: packet.marker,
                    start..<bytes.count))
        }
    }

    /// Asked and changed by one call for a run of packets: each access of a shared object's
    /// variable is checked for exclusiveness.
    nonisolated(unsafe) private var content = Content()
    private let isLent = Atomic<Bool>(false)

    init() {
        unsafe content.bytes.reserveCapacity(Self.usualByteCount)
        unsafe content.entries.reserveCapacity(Self.maximumEntries)
    }

    var bytes: [UInt8] { unsafe content.bytes }
    var entries: [Entry] { unsafe content.entries }
    /// When the first of it came.
    var began: MonotonicTime { unsafe content.began }
    var isEmpty: Bool { unsafe content.entries.isEmpty }
    /// Has no room for another packet.
    var isFull: Bool { unsafe content.isFull }

    var isFree: Bool { !isLent.load(ordering: .acquiring) }
    func lend() { isLent.store(true, ordering: .releasing) }
    func giveBack() { isLent.store(false, ordering: .releasing) }

    /// Capacity is kept: a pool that has warmed up does not allocate.
    func begin(at now: MonotonicTime) {
        unsafe content.bytes.removeAll(keepingCapacity: true)
        unsafe content.entries.removeAll(keepingCapacity: true)
        unsafe content.began = now
    }

    func append(_ entry: Entry) { unsafe content.entries.append(entry) }

    /// Copies packets until it is full, at least one.
    /// - Returns: how many.
    func append(_ packets: Slice<UnsafeBufferPointer<MediaPacket>>, of kind: MediaKind) -> Int {
        unsafe content.append(packets, of: kind)
    }

    func appendSourceFrame(_ frame: UnsafeRawBufferPointer, at mediaTime: Duration) {
        let start = unsafe content.bytes.count
        unsafe content.bytes.append(contentsOf: frame)
        unsafe content.entries.append(.sourceFrame(mediaTime: mediaTime, start..<content.bytes.count))
    }

    static let usualByteCount = 65_536
    static let maximumEntries = 256
    /// A raw AAC frame has at most 8,192 bytes, a datagram that passes 1,500.
    private static let largestPacket = 8_192
}

/// The blocks of one publication: as many as its writer lags.
typealias RecordingBlockPool = BlockPool<RecordingBlock>

extension RecordingBlockPool {
    init() { self.init(maximumCount: Self.maximumBlocks, make: RecordingBlock.init) }

    /// 6 MiB: some five seconds at the contract's highest bitrate, in which a disk may stall.
    static var maximumBlocks: Int { 96 }
}
