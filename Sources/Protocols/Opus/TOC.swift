/// The table-of-contents byte that begins every Opus packet (RFC 6716 §3.1).
///
///     let ticks = try TOC.sampleCount(of: packet)  // 960 for the usual 20 ms
@frozen
public struct TOC: Equatable, Sendable, BitwiseCopyable {
    /// As sent: configuration, stereo bit, frame count code.
    public var byte: UInt8

    /// From the first byte of a packet.
    @inlinable public init(_ byte: UInt8) { self.byte = byte }

    /// The configuration number, 0 to 31.
    @inlinable public var configuration: UInt8 { byte >> 3 }
    /// Two channels; may change from packet to packet.
    @inlinable public var isStereo: Bool { byte & 4 != 0 }
    /// 0 one frame, 1 two equal ones, 2 two of different size, 3 any number.
    @inlinable public var frameCountCode: UInt8 { byte & 3 }

    /// Samples of one frame at 48 kHz (2.5 to 60 ms).
    @inlinable
    public var samplesPerFrame: Int {
        switch configuration {
        case 0...11: configuration & 3 == 3 ? 2_880 : 480 << Int(configuration & 3)  // SILK
        case 12...15: 480 << Int(configuration & 1)  // hybrid
        default: 120 << Int(configuration & 3)  // CELT
        }
    }

    /// Samples at 48 kHz in a whole packet, at most 5,760 (120 ms).
    /// - Throws: `.truncated`, `.invalidFrameCount`.
    @inlinable
    public static func sampleCount(of packet: UnsafeRawBufferPointer) throws(OpusError) -> Int {
        guard let first = unsafe packet.first else { throw .truncated }
        let toc = TOC(first)
        let frames: Int
        switch toc.frameCountCode {
        case 0: frames = 1
        case 1, 2: frames = 2
        default:
            guard packet.count > 1 else { throw .truncated }
            frames = unsafe Int(packet[1] & 0x3F)
        }
        let samples = frames * toc.samplesPerFrame
        guard samples > 0, samples <= maximumSampleCount else { throw .invalidFrameCount }
        return samples
    }

    /// 120 ms at 48 kHz.
    @inlinable public static var maximumSampleCount: Int { 5_760 }
}

/// What can be wrong with an Opus packet or header from a peer.
public enum OpusError: Error, Equatable, Sendable {
    /// The packet ends where its frame count should stand.
    case truncated
    /// More frames than 120 ms hold, or a frame count of 0 (RFC 6716 §3.2.5).
    case invalidFrameCount
    /// Not `OpusHead`, or a version whose upper half is not 0 (RFC 7845 §5.1).
    case unsupportedHeader
}
