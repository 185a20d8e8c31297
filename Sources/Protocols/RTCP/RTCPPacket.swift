public import Wire

/// One packet of an RTCP compound.
public enum RTCPPacket: Equatable, Sendable {
    /// SR, packet type 200.
    case senderReport(SenderReport)
    /// RR, 201.
    case receiverReport(ReceiverReport)
    /// SDES, 202.
    case sourceDescription(SourceDescription)
    /// BYE, 203.
    case goodbye(Goodbye)
    /// RTPFB 205, format 1.
    case nack(GenericNACK)
    /// RTPFB 205, format 9.
    case pause(StreamPauseFeedback)
    /// RTPFB 205, format 15.
    case transportWide(TransportWideFeedback)
    /// PSFB 206, format 1.
    case pictureLoss(PictureLossIndication)
    /// PSFB 206, format 4.
    case fullIntraRequest(FullIntraRequest)
    /// PSFB 206, format 15: REMB.
    case bitrateLimit(ReceiverEstimatedMaximumBitrate)
    /// XR, 207.
    case extendedReport(ExtendedReport)
    /// A type we do not read: stepped over.
    case other(packetType: UInt8)
}

extension RTCPPacket {
    /// Appends the packet; false for a type that was stepped over.
    @discardableResult
    public func write(into writer: inout ByteWriter) -> Bool {
        switch self {
        case .senderReport(let packet): packet.write(into: &writer)
        case .receiverReport(let packet): packet.write(into: &writer)
        case .sourceDescription(let packet): packet.write(into: &writer)
        case .goodbye(let packet): packet.write(into: &writer)
        case .nack(let packet): packet.write(into: &writer)
        case .pause(let packet): packet.write(into: &writer)
        case .transportWide(let packet): packet.write(into: &writer)
        case .pictureLoss(let packet): packet.write(into: &writer)
        case .fullIntraRequest(let packet): packet.write(into: &writer)
        case .bitrateLimit(let packet): packet.write(into: &writer)
        case .extendedReport(let packet): packet.write(into: &writer)
        case .other: return false
        }
        return true
    }
}

/// RTCP packet types (RFC 3550 §12.1, RFC 4585 §6.1, RFC 3611 §2).
enum RTCPPacketType {
    static let senderReport: UInt8 = 200
    static let receiverReport: UInt8 = 201
    static let sourceDescription: UInt8 = 202
    static let goodbye: UInt8 = 203
    static let transportFeedback: UInt8 = 205
    static let payloadFeedback: UInt8 = 206
    static let extendedReport: UInt8 = 207
}

/// Feedback message types (the FMT field).
enum FeedbackMessageType {
    /// Transport layer: generic NACK (RFC 4585 §6.2.1), pause and resume (RFC 7728 §8), transport-wide congestion control.
    static let nack: UInt8 = 1
    static let pause: UInt8 = 9
    static let transportWide: UInt8 = 15
    /// Payload specific: PLI (RFC 4585 §6.3.1), FIR (RFC 5104 §4.3.1), application layer (REMB).
    static let pictureLoss: UInt8 = 1
    static let fullIntraRequest: UInt8 = 4
    static let applicationLayer: UInt8 = 15
}

extension ByteWriter {
    /// Writes one RTCP packet: the common header, then what `body` writes, then the length in words (RFC 3550 §6.4.1).
    /// - Parameter count: the five bits beside the version.
    /// - Precondition: `body` writes whole words; every packet type of ours does.
    mutating func writeRTCP(_ packetType: UInt8, count: UInt8, _ body: (inout ByteWriter) -> Void) {
        precondition(count < 32, "five bits: lists hold 31 at most")
        let start = self.count
        write(0x80 | count)
        write(packetType)
        write(UInt16(0))
        body(&self)
        precondition((self.count - start) % 4 == 0, "an RTCP packet is whole words")
        patch(UInt16((self.count - start) / 4 - 1), at: start + 2)
    }
}
