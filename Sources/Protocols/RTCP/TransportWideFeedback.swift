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

    /// Nanoseconds of a unit of `referenceTime`, and of one of `arrivalDeltas`.
    @inlinable public static var referenceUnit: Int64 { 64_000_000 }
    @inlinable public static var deltaUnit: Int64 { 250_000 }
    /// 16 bits count the statuses.
    public static let maximumStatuses = 0xFFFF
    /// Read from one packet: two seconds at 8.5 Mbit/s, where receivers tell several times a second. Two bytes can name 8,191
    /// packets that did not come.
    public static let maximumStatusesRead = 2_048

    /// From its parts.
    public init(
        senderSSRC: UInt32, mediaSSRC: UInt32, baseSequenceNumber: UInt16, referenceTime: Int32, feedbackCount: UInt8,
        arrivalDeltas: [Int16?]
    ) {
        (self.senderSSRC, self.mediaSSRC, self.baseSequenceNumber) = (senderSSRC, mediaSSRC, baseSequenceNumber)
        (self.referenceTime, self.feedbackCount, self.arrivalDeltas) = (referenceTime, feedbackCount, arrivalDeltas)
    }

    init?(parsing reader: inout ByteReader) {
        guard let senderSSRC = reader.read(UInt32.self), let mediaSSRC = reader.read(UInt32.self),
            let base = reader.read(UInt16.self), let count = reader.read(UInt16.self), let reference = reader.readUInt24(),
            let feedbackCount = reader.read(UInt8.self), 1...Self.maximumStatusesRead ~= Int(count),
            let symbols = Self.symbols(Int(count), parsing: &reader)
        else { return nil }
        self.init(
            senderSSRC: senderSSRC, mediaSSRC: mediaSSRC, baseSequenceNumber: base,
            referenceTime: Int32(bitPattern: reference << 8) >> 8, feedbackCount: feedbackCount, arrivalDeltas: [])
        arrivalDeltas.reserveCapacity(symbols.count)
        for symbol in symbols {
            switch symbol {
            case 0: arrivalDeltas.append(nil)
            case 1:
                guard let delta = reader.read(UInt8.self) else { return nil }
                arrivalDeltas.append(Int16(delta))
            case 2:
                guard let delta = reader.read(UInt16.self) else { return nil }
                arrivalDeltas.append(Int16(bitPattern: delta))
            default: return nil
            }
        }
    }

    /// The statuses of all chunks; a last chunk may promise more than are counted (§3.1.3, §3.1.4).
    private static func symbols(_ count: Int, parsing reader: inout ByteReader) -> [UInt8]? {
        var symbols: [UInt8] = []
        symbols.reserveCapacity(count)
        while symbols.count < count {
            guard let chunk = reader.read(UInt16.self) else { return nil }
            let left = count - symbols.count
            if chunk & 0x8000 == 0 {
                let run = Int(chunk & 0x1FFF)
                guard run > 0 else { return nil }
                symbols.append(contentsOf: repeatElement(UInt8(chunk >> 13), count: min(run, left)))
            } else {
                let (width, mask): (UInt16, UInt16) = chunk & 0x4000 == 0 ? (1, 1) : (2, 3)
                let inChunk = 14 / Int(width)
                for place in 0..<min(inChunk, left) {
                    symbols.append(UInt8(chunk >> (14 - width * UInt16(place + 1)) & mask))
                }
            }
        }
        return symbols
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
