public import Wire

/// Generic NACK (RFC 4585 §6.2.1): packets the receiver misses.
public struct GenericNACK: Equatable, Sendable {
    /// One missing packet, and a bit for each of the 16 that follow it.
    public struct Entry: Equatable, Sendable {
        /// PID: the first missing sequence number.
        public var packetID: UInt16
        /// BLP: bit 0 stands for `packetID` + 1.
        public var followingLost: UInt16

        /// From its parts.
        public init(packetID: UInt16, followingLost: UInt16 = 0) {
            (self.packetID, self.followingLost) = (packetID, followingLost)
        }
    }

    /// Who misses the packets; 0 where a receiver has no SSRC.
    public var senderSSRC: UInt32
    /// Whose packets are missed.
    public var mediaSSRC: UInt32
    /// As sent.
    public var entries: [Entry]

    /// From its parts.
    public init(senderSSRC: UInt32, mediaSSRC: UInt32, entries: [Entry]) {
        (self.senderSSRC, self.mediaSSRC, self.entries) = (senderSSRC, mediaSSRC, entries)
    }

    /// - Parameter sequenceNumbers: ascending in the wrapping order of sequence numbers.
    public init(senderSSRC: UInt32, mediaSSRC: UInt32, sequenceNumbers: some Sequence<UInt16>) {
        var entries: [Entry] = []
        for number in sequenceNumbers {
            if let last = entries.last, case let distance = number &- last.packetID, 1...16 ~= distance {
                entries[entries.count - 1].followingLost |= 1 << (distance - 1)
            } else {
                entries.append(Entry(packetID: number))
            }
        }
        self.init(senderSSRC: senderSSRC, mediaSSRC: mediaSSRC, entries: entries)
    }

    /// Calls `body` with each missing sequence number, in order.
    public func forEachSequenceNumber(_ body: (UInt16) -> Void) {
        for entry in entries {
            body(entry.packetID)
            for bit in 0..<UInt16(16) where entry.followingLost >> bit & 1 != 0 { body(entry.packetID &+ 1 &+ bit) }
        }
    }

    init?(parsing reader: inout ByteReader) {
        guard let senderSSRC = reader.read(UInt32.self), let mediaSSRC = reader.read(UInt32.self),
            reader.remaining % 4 == 0
        else { return nil }
        self.init(senderSSRC: senderSSRC, mediaSSRC: mediaSSRC, entries: [])
        while let packetID = reader.read(UInt16.self), let followingLost = reader.read(UInt16.self) {
            entries.append(Entry(packetID: packetID, followingLost: followingLost))
        }
    }

    /// Appends the packet with its common header.
    public func write(into writer: inout ByteWriter) {
        writer.writeRTCP(RTCPPacketType.transportFeedback, count: FeedbackMessageType.nack) { body in
            body.write(senderSSRC)
            body.write(mediaSSRC)
            for entry in entries {
                body.write(entry.packetID)
                body.write(entry.followingLost)
            }
        }
    }
}
