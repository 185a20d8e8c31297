public import Wire

/// XR (RFC 3611): the two blocks by which a receiver learns the round trip time; other blocks are stepped over.
public struct ExtendedReport: Equatable, Sendable {
    /// A sub-block of DLRR (§4.5): the answer to the receiver reference time of `ssrc`.
    public struct Delay: Equatable, Sendable {
        /// Whose reference time is answered.
        public var ssrc: UInt32
        /// The middle 32 bits of the reference time's NTP.
        public var lastReceiverReference: UInt32
        /// In 65536ths of a second.
        public var delaySinceLast: UInt32

        /// From its parts.
        public init(ssrc: UInt32, lastReceiverReference: UInt32, delaySinceLast: UInt32) {
            (self.ssrc, self.lastReceiverReference) = (ssrc, lastReceiverReference)
            self.delaySinceLast = delaySinceLast
        }
    }

    /// The reporter.
    public var ssrc: UInt32
    /// Receiver reference time (§4.4) as NTP; nil when the block is absent.
    public var receiverReferenceTime: UInt64?
    /// DLRR sub-blocks; empty when the block is absent.
    public var delays: [Delay]

    static let receiverReferenceBlock: UInt8 = 4
    static let delayBlock: UInt8 = 5

    /// From its parts; blocks that are nil or empty are not written.
    public init(ssrc: UInt32, receiverReferenceTime: UInt64? = nil, delays: [Delay] = []) {
        (self.ssrc, self.receiverReferenceTime, self.delays) = (ssrc, receiverReferenceTime, delays)
    }

    init?(parsing reader: inout ByteReader) {
        guard let ssrc = reader.read(UInt32.self) else { return nil }
        self.init(ssrc: ssrc)
        while !reader.isAtEnd {
            guard let type = reader.read(UInt8.self), reader.skip(1), let words = reader.read(UInt16.self),
                let block = reader.readSpan(count: 4 * Int(words))
            else { return nil }
            var body = ByteReader(block)
            switch type {
            case Self.receiverReferenceBlock:
                guard let time = body.read(UInt64.self) else { return nil }
                receiverReferenceTime = time
            case Self.delayBlock:
                guard body.remaining % 12 == 0 else { return nil }
                while let delay = Self.delay(parsing: &body) { delays.append(delay) }
            default: break
            }
        }
    }

    private static func delay(parsing reader: inout ByteReader) -> Delay? {
        guard let ssrc = reader.read(UInt32.self), let reference = reader.read(UInt32.self),
            let delay = reader.read(UInt32.self)
        else { return nil }
        return Delay(ssrc: ssrc, lastReceiverReference: reference, delaySinceLast: delay)
    }

    /// Appends the packet with its common header.
    public func write(into writer: inout ByteWriter) {
        writer.writeRTCP(RTCPPacketType.extendedReport, count: 0) { body in
            body.write(ssrc)
            if let receiverReferenceTime {
                body.write(UInt32(Self.receiverReferenceBlock) << 24 | 2)
                body.write(receiverReferenceTime)
            }
            guard !delays.isEmpty else { return }
            body.write(UInt32(Self.delayBlock) << 24 | UInt32(3 * delays.count))
            for delay in delays {
                body.write(delay.ssrc)
                body.write(delay.lastReceiverReference)
                body.write(delay.delaySinceLast)
            }
        }
    }
}
