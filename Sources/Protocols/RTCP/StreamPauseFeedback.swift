public import Wire

/// PAUSE, RESUME and their answers (RFC 7728 §8): a receiver stops a stream for a while, and has it again.
public struct StreamPauseFeedback: Equatable, Sendable {
    /// What is asked or answered.
    public enum Kind: Equatable, Sendable {
        case pause, resume
        /// By the stream's sender; the last number before the pause, with its rounds above the low 16 bits.
        case paused(highestSequenceNumber: UInt32)
        case refused
    }

    /// One stream that it is about.
    public struct Entry: Equatable, Sendable {
        /// The stream.
        public var ssrc: UInt32
        /// What is asked or answered.
        public var kind: Kind
        /// Rises by one with each new PAUSE, and wraps; a RESUME has its PAUSE's.
        public var pauseID: UInt16

        /// From its parts.
        public init(ssrc: UInt32, kind: Kind, pauseID: UInt16) { (self.ssrc, self.kind, self.pauseID) = (ssrc, kind, pauseID) }
    }

    /// Who asks or answers.
    public var senderSSRC: UInt32
    /// In their order. Types that no RFC knows are left out.
    public var entries: [Entry]

    /// From its parts.
    public init(senderSSRC: UInt32, entries: [Entry]) { (self.senderSSRC, self.entries) = (senderSSRC, entries) }

    init?(parsing reader: inout ByteReader) {
        guard let senderSSRC = reader.read(UInt32.self), reader.skip(4) else { return nil }
        self.init(senderSSRC: senderSSRC, entries: [])
        while reader.remaining > 0 {
            guard let ssrc = reader.read(UInt32.self), let type = reader.read(UInt8.self), let words = reader.read(UInt8.self),
                let pauseID = reader.read(UInt16.self), let parameters = reader.readSpan(count: 4 * Int(words))
            else { return nil }
            if let kind = Kind(type >> 4, parameters) { entries.append(Entry(ssrc: ssrc, kind: kind, pauseID: pauseID)) }
        }
    }

    /// Appends the packet with its common header.
    public func write(into writer: inout ByteWriter) {
        writer.writeRTCP(RTCPPacketType.transportFeedback, count: FeedbackMessageType.pause) { body in
            body.write(senderSSRC)
            body.write(UInt32(0))
            for entry in entries {
                body.write(entry.ssrc)
                body.write(UInt32(entry.kind.type) << 28 | UInt32(entry.kind.parameters.count) << 16 | UInt32(entry.pauseID))
                for word in entry.kind.parameters { body.write(word) }
            }
        }
    }
}

extension StreamPauseFeedback.Kind {
    /// The four bits, and the words behind the PauseID.
    fileprivate init?(_ type: UInt8, _ parameters: RawSpan) {
        var reader = ByteReader(parameters)
        switch type {
        case 0: self = .pause
        case 1: self = .resume
        case 2: self = .paused(highestSequenceNumber: reader.read(UInt32.self) ?? 0)
        case 3: self = .refused
        default: return nil
        }
    }

    fileprivate var type: UInt8 {
        switch self {
        case .pause: 0
        case .resume: 1
        case .paused: 2
        case .refused: 3
        }
    }

    fileprivate var parameters: [UInt32] {
        guard case .paused(let number) = self else { return [] }
        return [number]
    }
}
