import AAC
import Settings

/// What a worker hands to a transcoding thread at once: openings, frames and closings of any of its streams, in order.
struct FrameBatch: Sendable {
    enum Event: Sendable {
        case open(AudioSpecificConfig, TranscodingSettings)
        /// Opus that AAC is made of.
        case openOpus(channelCount: Int)
        /// A raw AAC frame, or a packet of Opus: where in `bytes`, and its media time in ticks of 48 kHz.
        case frame(Range<Int>, mediaTime: Int64)
        case close
    }

    var bytes: [UInt8] = []
    var events: [(stream: UInt64, event: Event)] = []

    init() {}

    /// An empty one with room for as much as the last one had.
    init(asRoomyAs other: FrameBatch) {
        bytes.reserveCapacity(other.bytes.count)
        events.reserveCapacity(other.events.count)
    }

    mutating func append(_ frame: UnsafeRawBufferPointer, mediaTime: Int64, of stream: UInt64) {
        let start = bytes.count
        unsafe bytes.append(contentsOf: frame)
        events.append((stream, .frame(start..<bytes.count, mediaTime: mediaTime)))
    }
}

/// What comes back for one `FrameBatch`: packets of several streams in order.
struct PacketBatch: Sendable {
    enum Event: Sendable {
        case packet(Range<Int>, mediaTime: Int64)
        case failed(TranscodingError)
    }

    var thread: Int
    var bytes: [UInt8] = []
    var events: [(stream: UInt64, event: Event)] = []

    /// - Parameter eventCount: about so many packets will come.
    init(thread: Int, eventCount: Int) {
        self.thread = thread
        bytes.reserveCapacity(eventCount * Self.likelyPacketByteCount + OpusEncoder.maximumPacketByteCount)
        events.reserveCapacity(eventCount)
    }

    /// 96 kbit/s in packets of 20 ms, and something to spare.
    private static let likelyPacketByteCount = 280
}
