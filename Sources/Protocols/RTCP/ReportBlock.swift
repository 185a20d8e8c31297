import Wire

/// What a receiver tells about one source (RFC 3550 §6.4.1).
public struct ReportBlock: Equatable, Sendable {
    public var ssrc: UInt32
    /// Packets lost since the last report, in 256ths.
    public var fractionLost: UInt8
    /// Packets lost since the beginning; negative when duplicates came.
    public var cumulativeLost: Int32
    public var extendedHighestSequenceNumber: UInt32
    /// In units of the source's clock.
    public var jitter: UInt32
    /// The middle 32 bits of the last sender report's NTP time; 0 before the first.
    public var lastSenderReport: UInt32
    /// Between that report's arrival and this one, in 65536ths of a second.
    public var delaySinceLastSenderReport: UInt32

    public static let byteCount = 24
    /// The largest and smallest number that 24 signed bits hold.
    public static let cumulativeLostRange: ClosedRange<Int32> = -0x80_0000...0x7F_FFFF

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
