public import Wire

/// REMB (draft-alvestrand-rmcat-remb-03 §2.2): all the named sources together should send no more than this.
public struct ReceiverEstimatedMaximumBitrate: Equatable, Sendable {
    /// Who estimates.
    public var senderSSRC: UInt32
    /// Rounded down to 18 significant bits when written; `UInt64.max` for a rate that is no limit.
    public var bitsPerSecond: UInt64
    /// At most 255.
    public var ssrcs: [UInt32]

    /// "REMB" in ASCII.
    static let identifier: UInt32 = 0x5245_4D42
    /// 18 bits.
    static let maximumMantissa: UInt64 = 0x3FFFF

    /// From its parts.
    public init(senderSSRC: UInt32, bitsPerSecond: UInt64, ssrcs: [UInt32]) {
        (self.senderSSRC, self.bitsPerSecond, self.ssrcs) = (senderSSRC, bitsPerSecond, ssrcs)
    }

    /// Reads an application layer feedback message: REMB, or another one that is stepped over; nil when it is too short.
    static func read(_ reader: inout ByteReader) -> RTCPPacket? {
        guard let senderSSRC = reader.read(UInt32.self), reader.skip(4) else { return nil }
        guard let identifier = reader.read(UInt32.self), identifier == Self.identifier else {
            return .other(packetType: RTCPPacketType.payloadFeedback)
        }
        guard let count = reader.read(UInt8.self), let rate = reader.readUInt24(), reader.remaining >= 4 * Int(count)
        else { return nil }
        let (mantissa, exponent) = (UInt64(rate) & maximumMantissa, UInt64(rate >> 18))
        // 18 + 63 bits do not fit: such a rate is no limit.
        let bits = mantissa.leadingZeroBitCount >= Int(exponent) ? mantissa << exponent : UInt64.max
        let ssrcs = (0..<count).compactMap { _ in reader.read(UInt32.self) }
        return .bitrateLimit(Self(senderSSRC: senderSSRC, bitsPerSecond: bits, ssrcs: ssrcs))
    }

    /// Appends the packet with its common header.
    public func write(into writer: inout ByteWriter) {
        let exponent = max(0, 64 - bitsPerSecond.leadingZeroBitCount - 18)
        writer.writeRTCP(RTCPPacketType.payloadFeedback, count: FeedbackMessageType.applicationLayer) { body in
            body.write(senderSSRC)
            body.write(UInt32(0))
            body.write(Self.identifier)
            body.write(UInt8(ssrcs.count))
            body.writeUInt24(UInt32(exponent) << 18 | UInt32(bitsPerSecond >> UInt64(exponent)))
            for ssrc in ssrcs { body.write(ssrc) }
        }
    }
}
