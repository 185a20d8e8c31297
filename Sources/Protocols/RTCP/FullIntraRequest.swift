public import Wire

/// FIR (RFC 5104 §4.3.1): a command for an IDR picture; a repeated sequence number is the same command.
public struct FullIntraRequest: Equatable, Sendable {
    public struct Entry: Equatable, Sendable {
        public var ssrc: UInt32
        public var sequenceNumber: UInt8

        public init(ssrc: UInt32, sequenceNumber: UInt8) { (self.ssrc, self.sequenceNumber) = (ssrc, sequenceNumber) }
    }

    public var senderSSRC: UInt32
    public var entries: [Entry]

    public init(senderSSRC: UInt32, entries: [Entry]) { (self.senderSSRC, self.entries) = (senderSSRC, entries) }

    init?(parsing reader: inout ByteReader) {
        guard let senderSSRC = reader.read(UInt32.self), reader.skip(4), reader.remaining % 8 == 0 else { return nil }
        self.init(senderSSRC: senderSSRC, entries: [])
        while let ssrc = reader.read(UInt32.self), let sequenceNumber = reader.read(UInt8.self), reader.skip(3) {
            entries.append(Entry(ssrc: ssrc, sequenceNumber: sequenceNumber))
        }
    }

    public func write(into writer: inout ByteWriter) {
        writer.writeRTCP(RTCPPacketType.payloadFeedback, count: FeedbackMessageType.fullIntraRequest) { body in
            body.write(senderSSRC)
            body.write(UInt32(0))
            for entry in entries {
                body.write(entry.ssrc)
                body.write(UInt32(entry.sequenceNumber) << 24)
            }
        }
    }
}
