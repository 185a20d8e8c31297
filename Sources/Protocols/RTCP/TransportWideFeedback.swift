public import Wire

/// Transport-wide congestion control feedback (draft-holmer-rmcat-transport-wide-cc-extensions-01 §3.1): when each packet came.
public struct TransportWideFeedback: Equatable, Sendable {
    /// Who received the packets.
    public var senderSSRC: UInt32
    /// A source of the transport; receivers of feedback do not look at it.
    public var mediaSSRC: UInt32
    /// The transport-wide sequence number of the first status.
    public var baseSequenceNumber: UInt16
    /// In units of 64 ms; 24 bits are sent.
    public var referenceTime: Int32
    /// Rises by one with every feedback packet.
    public var feedbackCount: UInt8
    /// Since the one before (the reference time for the first), in units of 250 µs; nil for a packet that did not come.
    public var arrivalDeltas: [Int16?]

    /// 16 bits count the statuses.
    public static let maximumStatuses = 0xFFFF

    /// From its parts.
    public init(
        senderSSRC: UInt32, mediaSSRC: UInt32, baseSequenceNumber: UInt16, referenceTime: Int32, feedbackCount: UInt8,
        arrivalDeltas: [Int16?]
    ) {
        (self.senderSSRC, self.mediaSSRC, self.baseSequenceNumber) = (senderSSRC, mediaSSRC, baseSequenceNumber)
        (self.referenceTime, self.feedbackCount, self.arrivalDeltas) = (referenceTime, feedbackCount, arrivalDeltas)
    }

    /// - Precondition: `arrivalDeltas` holds 1 to `maximumStatuses`; the caller collected them.
    public func write(into writer: inout ByteWriter) {
        precondition(1...Self.maximumStatuses ~= arrivalDeltas.count, "feedback tells of 1 to 65,535 packets")
        writer.writeRTCP(RTCPPacketType.transportFeedback, count: FeedbackMessageType.transportWide) { body in
            body.write(senderSSRC)
            body.write(mediaSSRC)
            body.write(baseSequenceNumber)
            body.write(UInt16(arrivalDeltas.count))
            body.writeUInt24(UInt32(bitPattern: referenceTime))
            body.write(feedbackCount)
            let start = body.count
            writeChunks(into: &body)
            writeDeltas(into: &body)
            while (body.count - start) % 4 != 0 { body.write(UInt8(0)) }
        }
    }

    /// Run length chunks for seven and more equal symbols, else vectors of seven two-bit symbols (§3.1.3, §3.1.4).
    private func writeChunks(into body: inout ByteWriter) {
        let symbols = arrivalDeltas.map(Self.symbol)
        var index = 0
        while index < symbols.count {
            let run = symbols[index...].prefix(0x1FFF).prefix { $0 == symbols[index] }.count
            if run >= 7 {
                body.write(symbols[index] << 13 | UInt16(run))
                index += run
            } else {
                let vector = symbols[index...].prefix(7)
                let packed = vector.enumerated().reduce(UInt16(0xC000)) { $0 | $1.element << UInt16(12 - 2 * $1.offset) }
                body.write(packed)
                index += vector.count
            }
        }
    }

    private func writeDeltas(into body: inout ByteWriter) {
        for case let delta? in arrivalDeltas {
            if Self.symbol(delta) == 1 { body.write(UInt8(delta)) } else { body.write(delta) }
        }
    }

    /// 0 did not come, 1 small delta (one byte), 2 large or negative delta (two bytes).
    private static func symbol(_ delta: Int16?) -> UInt16 {
        guard let delta else { return 0 }
        return 0...255 ~= delta ? 1 : 2
    }
}
