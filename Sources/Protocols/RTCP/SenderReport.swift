public import Wire

/// SR (RFC 3550 §6.4.1): what an RTP timestamp means in wall clock time.
public struct SenderReport: Equatable, Sendable {
    public var ssrc: UInt32
    /// 32 bits of seconds since 1900, 32 of fraction.
    public var ntp: UInt64
    /// The RTP time of the same instant.
    public var rtpTimestamp: UInt32
    public var packetCount: UInt32
    /// Payload bytes, without headers and padding.
    public var octetCount: UInt32
    /// At most 31.
    public var reports: [ReportBlock]

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
