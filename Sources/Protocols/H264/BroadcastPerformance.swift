/// What an encoder program counted since its last report: Broadcast Performance Metrics, which OBS Studio puts behind the
/// keyframes of multitrack streams as SEI messages of type user_data_unregistered (written from what OBS 32.2 sends).
///
/// Whether frames were lost by the machine or by the uplink is known to nobody else.
public enum BroadcastPerformance: Equatable, Sendable {
    /// Of the whole program.
    case session(SessionFrames)
    /// Of the encoder whose track carries the message.
    case rendition(RenditionFrames)

    /// Frames since the last report.
    public struct SessionFrames: Equatable, Sendable {
        /// Composed.
        public var rendered: UInt32 = 0
        /// Composed too late, by a graphics card that has too much to do.
        public var lagged: UInt32 = 0
        /// Of `output`: not sent, because the connection did not take them.
        public var dropped: UInt32 = 0
        /// Encoded and handed to the connection, all renditions together.
        public var output: UInt32 = 0

        public init() {}
    }

    /// Frames since the last report.
    public struct RenditionFrames: Equatable, Sendable {
        public var input: UInt32 = 0
        /// Not encoded, because the encoder did not keep up.
        public var skipped: UInt32 = 0
        public var output: UInt32 = 0

        public init() {}
    }

    /// Looks into one NAL unit of type 6, header included; nil where it is anything else or malformed. Allocates nothing.
    public init?(inSEI nalUnit: RawSpan) {
        let found: BroadcastPerformance? = unsafe nalUnit.withUnsafeBytes { bytes in
            // Many encoders send SEI of other types with every picture: one byte tells.
            guard bytes.count > 1, unsafe bytes[1] == 5 else { return nil }
            var reader = unsafe SEIReader(bytes)
            return try? reader.readPerformance()
        }
        guard let found else { return nil }
        self = found
    }
}

extension SEIReader {
    private static let session: [16 of UInt8] = [
        0xCA, 0x60, 0xE7, 0x1C, 0x6A, 0x8B, 0x43, 0x88, 0xA3, 0x77, 0x15, 0x1D, 0xF7, 0xBF, 0x8A, 0xC2,
    ]
    private static let rendition: [16 of UInt8] = [
        0xF1, 0xFB, 0xC1, 0xD5, 0x10, 0x1E, 0x4F, 0xB5, 0xA6, 0x1E, 0xB8, 0xCE, 0x3C, 0x07, 0xB8, 0xC0,
    ]

    fileprivate mutating func readPerformance() throws(H264Error) -> BroadcastPerformance? {
        guard try nextMessage() == 5 else { return nil }
        let identifier = try readIdentifier()
        if Self.isEqual(identifier, Self.session) {
            var frames = BroadcastPerformance.SessionFrames()
            try readCounters { tag, value in
                switch tag {
                case 1: frames.rendered = value
                case 2: frames.lagged = value
                case 3: frames.dropped = value
                case 4: frames.output = value
                default: break
                }
            }
            return .session(frames)
        }
        guard Self.isEqual(identifier, Self.rendition) else { return nil }
        var frames = BroadcastPerformance.RenditionFrames()
        try readCounters { tag, value in
            switch tag {
            case 1: frames.input = value
            case 2: frames.skipped = value
            case 3: frames.output = value
            default: break
            }
        }
        return .rendition(frames)
    }

    /// Times, which are stepped over, then counters of a tag and 32 bits each; either list has 16 entries at most.
    private mutating func readCounters(_ body: (UInt8, UInt32) -> Void) throws(H264Error) {
        for _ in 0...(try readByte() & 0x0F) { _ = try readTime() }
        for _ in 0...(try readByte() & 0x0F) {
            let tag = try readByte()
            var value: UInt32 = 0
            for _ in 0..<4 { value = value << 8 | UInt32(try readByte()) }
            body(tag, value)
        }
    }
}
