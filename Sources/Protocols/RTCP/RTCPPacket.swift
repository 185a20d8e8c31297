public import Wire

/// One packet of an RTCP compound.
public enum RTCPPacket: Equatable, Sendable {
    case senderReport(SenderReport)
    case receiverReport(ReceiverReport)
    case sourceDescription(SourceDescription)
    case goodbye(Goodbye)
    case nack(GenericNACK)
    case pictureLoss(PictureLossIndication)
    case fullIntraRequest(FullIntraRequest)
    case bitrateLimit(ReceiverEstimatedMaximumBitrate)
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
        case .pictureLoss(let packet): packet.write(into: &writer)
        case .fullIntraRequest(let packet): packet.write(into: &writer)
        case .bitrateLimit(let packet): packet.write(into: &writer)
        case .extendedReport(let packet): packet.write(into: &writer)
        case .other: return false
        }
        return true
    }
}
