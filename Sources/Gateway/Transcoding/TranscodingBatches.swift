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
    private(set) var bytes: [UInt8] = []
    private(set) var events: [(stream: UInt64, event: Event)] = []
    /// Whose packets are added.
    var stream: UInt64 = 0

    /// - Parameter eventCount: about so many packets will come.
    init(thread: Int, eventCount: Int) {
        self.thread = thread
        bytes.reserveCapacity(eventCount * Self.likelyPacketByteCount + OpusEncoder.maximumPacketByteCount)
        events.reserveCapacity(eventCount)
    }

    /// Adds a packet: what `write` puts behind the bytes that are there, unless it puts nothing there.
    mutating func append(at mediaTime: Int64, _ write: (inout [UInt8]) -> Void) {
        let start = bytes.count
        write(&bytes)
        if bytes.count > start { events.append((stream, .packet(start..<bytes.count, mediaTime: mediaTime))) }
    }

    /// Nothing more comes of the stream.
    mutating func fail(_ error: TranscodingError) { events.append((stream, .failed(error))) }

    /// 96 kbit/s in packets of 20 ms, and something to spare.
    private static let likelyPacketByteCount = 280
}
