public import Wire

/// PLI (RFC 4585 §6.3.1): the decoder wants a picture it can start from.
public struct PictureLossIndication: Equatable, Sendable {
    /// Who asks.
    public var senderSSRC: UInt32
    /// Whose picture is wanted.
    public var mediaSSRC: UInt32

    /// From its parts.
    public init(senderSSRC: UInt32, mediaSSRC: UInt32) { (self.senderSSRC, self.mediaSSRC) = (senderSSRC, mediaSSRC) }

    init?(parsing reader: inout ByteReader) {
        guard let senderSSRC = reader.read(UInt32.self), let mediaSSRC = reader.read(UInt32.self) else { return nil }
        self.init(senderSSRC: senderSSRC, mediaSSRC: mediaSSRC)
    }

    /// Appends the packet with its common header.
    public func write(into writer: inout ByteWriter) {
        writer.writeRTCP(RTCPPacketType.payloadFeedback, count: FeedbackMessageType.pictureLoss) { body in
            body.write(senderSSRC)
            body.write(mediaSSRC)
        }
    }
}

/// FIR (RFC 5104 §4.3.1): a command for an IDR picture; a repeated sequence number is the same command.
public struct FullIntraRequest: Equatable, Sendable {
    /// One source that is asked.
    public struct Entry: Equatable, Sendable {
        /// Whose picture is wanted.
        public var ssrc: UInt32
        /// Rises by one with each new command, and wraps.
        public var sequenceNumber: UInt8

        /// From its parts.
        public init(ssrc: UInt32, sequenceNumber: UInt8) { (self.ssrc, self.sequenceNumber) = (ssrc, sequenceNumber) }
    }

    /// Who asks.
    public var senderSSRC: UInt32
    /// Each is a command of its own.
    public var entries: [Entry]

    /// From its parts.
    public init(senderSSRC: UInt32, entries: [Entry]) { (self.senderSSRC, self.entries) = (senderSSRC, entries) }

    init?(parsing reader: inout ByteReader) {
        guard let senderSSRC = reader.read(UInt32.self), reader.skip(4), reader.remaining % 8 == 0 else { return nil }
        self.init(senderSSRC: senderSSRC, entries: [])
        while let ssrc = reader.read(UInt32.self), let sequenceNumber = reader.read(UInt8.self), reader.skip(3) {
            entries.append(Entry(ssrc: ssrc, sequenceNumber: sequenceNumber))
        }
    }

    /// Appends the packet with its common header.
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
