public import Wire

/// SR (RFC 3550 §6.4.1): what an RTP timestamp means in wall clock time.
public struct SenderReport: Equatable, Sendable {
    /// The source that sends.
    public var ssrc: UInt32
    /// 32 bits of seconds since 1900, 32 of fraction.
    public var ntp: UInt64
    /// The RTP time of the same instant.
    public var rtpTimestamp: UInt32
    /// RTP packets since the source began, modulo 2^32.
    public var packetCount: UInt32
    /// Payload bytes, without headers and padding.
    public var octetCount: UInt32
    /// At most 31.
    public var reports: [ReportBlock]

    /// From its parts.
    /// - Parameter ntp: `WallTime.ntp` of the instant.
    public init(
        ssrc: UInt32, ntp: UInt64, rtpTimestamp: UInt32, packetCount: UInt32, octetCount: UInt32, reports: [ReportBlock] = []
    ) {
        (self.ssrc, self.ntp, self.rtpTimestamp) = (ssrc, ntp, rtpTimestamp)
        (self.packetCount, self.octetCount, self.reports) = (packetCount, octetCount, reports)
    }

    /// The middle 32 bits of the NTP time, as receivers send them back.
    public var compactNTP: UInt32 { UInt32(truncatingIfNeeded: ntp >> 16) }

    init?(parsing reader: inout ByteReader, count: UInt8) {
        guard let ssrc = reader.read(UInt32.self), let ntp = reader.read(UInt64.self),
            let rtpTimestamp = reader.read(UInt32.self), let packetCount = reader.read(UInt32.self),
            let octetCount = reader.read(UInt32.self), let reports = ReportBlock.list(parsing: &reader, count: count)
        else { return nil }
        self.init(
            ssrc: ssrc, ntp: ntp, rtpTimestamp: rtpTimestamp, packetCount: packetCount, octetCount: octetCount,
            reports: reports)
    }

    /// Appends the packet with its common header.
    public func write(into writer: inout ByteWriter) {
        writer.writeRTCP(RTCPPacketType.senderReport, count: UInt8(reports.count)) { body in
            body.write(ssrc)
            body.write(ntp)
            body.write(rtpTimestamp)
            body.write(packetCount)
            body.write(octetCount)
            for report in reports { report.write(into: &body) }
        }
    }
}

/// RR (RFC 3550 §6.4.2).
public struct ReceiverReport: Equatable, Sendable {
    /// Who reports.
    public var ssrc: UInt32
    /// At most 31.
    public var reports: [ReportBlock]

    /// From its parts.
    public init(ssrc: UInt32, reports: [ReportBlock]) { (self.ssrc, self.reports) = (ssrc, reports) }

    init?(parsing reader: inout ByteReader, count: UInt8) {
        guard let ssrc = reader.read(UInt32.self), let reports = ReportBlock.list(parsing: &reader, count: count)
        else { return nil }
        self.init(ssrc: ssrc, reports: reports)
    }

    /// Appends the packet with its common header.
    public func write(into writer: inout ByteWriter) {
        writer.writeRTCP(RTCPPacketType.receiverReport, count: UInt8(reports.count)) { body in
            body.write(ssrc)
            for report in reports { report.write(into: &body) }
        }
    }
}

/// What a receiver tells about one source (RFC 3550 §6.4.1).
public struct ReportBlock: Equatable, Sendable {
    /// The source that is reported on.
    public var ssrc: UInt32
    /// Packets lost since the last report, in 256ths.
    public var fractionLost: UInt8
    /// Packets lost since the beginning; negative when duplicates came.
    public var cumulativeLost: Int32
    /// The highest number received, with the count of its wraps in the upper 16 bits.
    public var extendedHighestSequenceNumber: UInt32
    /// In units of the source's clock.
    public var jitter: UInt32
    /// The middle 32 bits of the last sender report's NTP time; 0 before the first.
    public var lastSenderReport: UInt32
    /// Between that report's arrival and this one, in 65536ths of a second.
    public var delaySinceLastSenderReport: UInt32

    /// Bytes of a block on the wire.
    public static let byteCount = 24
    /// The largest and smallest number that 24 signed bits hold.
    public static let cumulativeLostRange: ClosedRange<Int32> = -0x80_0000...0x7F_FFFF

    /// From its parts.
    public init(
        ssrc: UInt32, fractionLost: UInt8, cumulativeLost: Int32, extendedHighestSequenceNumber: UInt32, jitter: UInt32,
        lastSenderReport: UInt32, delaySinceLastSenderReport: UInt32
    ) {
        (self.ssrc, self.fractionLost, self.cumulativeLost) = (ssrc, fractionLost, cumulativeLost)
        self.extendedHighestSequenceNumber = extendedHighestSequenceNumber
        (self.jitter, self.lastSenderReport) = (jitter, lastSenderReport)
        self.delaySinceLastSenderReport = delaySinceLastSenderReport
    }

    init?(parsing reader: inout ByteReader) {
        guard let ssrc = reader.read(UInt32.self), let fractionLost = reader.read(UInt8.self),
            let lost = reader.readUInt24(), let highest = reader.read(UInt32.self), let jitter = reader.read(UInt32.self),
            let lastSenderReport = reader.read(UInt32.self), let delay = reader.read(UInt32.self)
        else { return nil }
        self.init(
            ssrc: ssrc, fractionLost: fractionLost, cumulativeLost: Int32(bitPattern: lost << 8) >> 8,
            extendedHighestSequenceNumber: highest, jitter: jitter, lastSenderReport: lastSenderReport,
            delaySinceLastSenderReport: delay)
    }

    func write(into writer: inout ByteWriter) {
        writer.write(ssrc)
        writer.write(fractionLost)
        writer.writeUInt24(UInt32(bitPattern: cumulativeLost))
        writer.write(extendedHighestSequenceNumber)
        writer.write(jitter)
        writer.write(lastSenderReport)
        writer.write(delaySinceLastSenderReport)
    }

    static func list(parsing reader: inout ByteReader, count: UInt8) -> [ReportBlock]? {
        guard reader.remaining >= Int(count) * byteCount else { return nil }
        return (0..<count).compactMap { _ in ReportBlock(parsing: &reader) }
    }
}
