import Wire

/// Reads RTCP compounds (RFC 3550 §6.1), reduced-size ones included (RFC 5506): strict lengths, unknown types stepped over.
///
///     for packet in try RTCPCompound.parse(datagram) {
///         if case .nack(let nack) = packet { requests.add(nack) }
///     }
public enum RTCPCompound {
    /// More packets than this in one datagram are nobody's honest report.
    public static let maximumPackets = 32

    /// All packets of one datagram, after SRTCP has been removed.
    /// - Throws: when any of them is malformed; then none counts.
    public static func parse(_ datagram: RawSpan) throws(RTCPError) -> [RTCPPacket] {
        var packets: [RTCPPacket] = []
        var (reader, statuses) = (ByteReader(datagram), 0)
        repeat {
            let packet = try parseNext(&reader)
            if case .transportWide(let feedback) = packet { statuses += feedback.arrivalDeltas.count }
            guard packets.count < maximumPackets, statuses <= TransportWideFeedback.maximumStatusesRead else {
                throw .tooManyPackets
            }
            packets.append(packet)
        } while !reader.isAtEnd
        return packets
    }

    /// Whether a datagram that is RTP or RTCP is RTCP (RFC 5761 §4): its second byte is 192 to 223.
    @inlinable
    public static func isRTCP(secondByte: UInt8) -> Bool { 192...223 ~= secondByte }

    private static func parseNext(_ reader: inout ByteReader) throws(RTCPError) -> RTCPPacket {
        guard let flags = reader.read(UInt8.self), let packetType = reader.read(UInt8.self),
            let words = reader.read(UInt16.self)
        else { throw .truncated }
        guard flags >> 6 == 2 else { throw .unsupportedVersion(flags >> 6) }
        guard let whole = reader.readSpan(count: 4 * Int(words)) else { throw .truncated }
        var count = whole.byteCount
        if flags & 0x20 != 0 {
            let padding = paddingCount(whole)
            // libwebrtc fills its transport-wide feedback up with one to three bytes.
            let isWhole = padding % 4 == 0 || packetType == RTCPPacketType.transportFeedback
            guard reader.isAtEnd, padding > 0, isWhole, padding <= count else { throw .invalidPadding }
            count -= padding
        }
        var body = ByteReader(whole.extracting(0..<count))
        guard let packet = read(packetType, count: flags & 0x1F, &body) else { throw .invalidLength(packetType: packetType) }
        return packet
    }

    private static func paddingCount(_ body: RawSpan) -> Int {
        var reader = ByteReader(body)
        guard reader.skip(body.byteCount - 1), let count = reader.read(UInt8.self) else { return 0 }
        return Int(count)
    }

    /// - Parameter count: the five bits beside the version: report count, source count or feedback message type.
    /// - Returns: nil when the body is too short for what it promises.
    private static func read(_ packetType: UInt8, count: UInt8, _ body: inout ByteReader) -> RTCPPacket? {
        switch packetType {
        case RTCPPacketType.senderReport: SenderReport(parsing: &body, count: count).map { .senderReport($0) }
        case RTCPPacketType.receiverReport: ReceiverReport(parsing: &body, count: count).map { .receiverReport($0) }
        case RTCPPacketType.sourceDescription: SourceDescription(parsing: &body, count: count).map { .sourceDescription($0) }
        case RTCPPacketType.goodbye: Goodbye(parsing: &body, count: count).map { .goodbye($0) }
        case RTCPPacketType.transportFeedback where count == FeedbackMessageType.nack:
            GenericNACK(parsing: &body).map { .nack($0) }
        case RTCPPacketType.transportFeedback where count == FeedbackMessageType.pause:
            StreamPauseFeedback(parsing: &body).map { .pause($0) }
        case RTCPPacketType.transportFeedback where count == FeedbackMessageType.transportWide:
            TransportWideFeedback(parsing: &body).map { .transportWide($0) }
        case RTCPPacketType.payloadFeedback: readPayloadFeedback(count, &body)
        case RTCPPacketType.extendedReport: ExtendedReport(parsing: &body).map { .extendedReport($0) }
        default: .other(packetType: packetType)
        }
    }

    private static func readPayloadFeedback(_ type: UInt8, _ body: inout ByteReader) -> RTCPPacket? {
        switch type {
        case FeedbackMessageType.pictureLoss: PictureLossIndication(parsing: &body).map { .pictureLoss($0) }
        case FeedbackMessageType.fullIntraRequest: FullIntraRequest(parsing: &body).map { .fullIntraRequest($0) }
        case FeedbackMessageType.applicationLayer:
            ReceiverEstimatedMaximumBitrate.read(&body)
        default: .other(packetType: RTCPPacketType.payloadFeedback)
        }
    }
}

/// Why a datagram is not RTCP. The whole compound is dropped: one bad length makes the rest guesswork.
public enum RTCPError: Error, Equatable, Sendable {
    /// The datagram ends inside a packet.
    case truncated
    /// The two bits are not 2.
    case unsupportedVersion(UInt8)
    /// Padding anywhere but in the last packet, or of a count that cannot be (RFC 3550 §6.4.1, §A.2).
    case invalidPadding
    /// A packet's own length does not hold what its counts promise.
    case invalidLength(packetType: UInt8)
    /// More than `RTCPCompound.maximumPackets`, or packets that tell of more than `TransportWideFeedback.maximumStatusesRead`
    /// others: a few bytes can name thousands.
    case tooManyPackets
}
