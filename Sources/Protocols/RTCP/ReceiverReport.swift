public import Wire

/// RR (RFC 3550 §6.4.2).
public struct ReceiverReport: Equatable, Sendable {
    public var ssrc: UInt32
    /// At most 31.
    public var reports: [ReportBlock]

    public init(ssrc: UInt32, reports: [ReportBlock]) { (self.ssrc, self.reports) = (ssrc, reports) }

    init?(parsing reader: inout ByteReader, count: UInt8) {
        guard let ssrc = reader.read(UInt32.self), let reports = ReportBlock.list(parsing: &reader, count: count)
        else { return nil }
        self.init(ssrc: ssrc, reports: reports)
    }

    public func write(into writer: inout ByteWriter) {
        writer.writeRTCP(RTCPPacketType.receiverReport, count: UInt8(reports.count)) { body in
            body.write(ssrc)
            for report in reports { report.write(into: &body) }
        }
    }
}
