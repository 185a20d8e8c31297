public import Wire

/// The header of one RTP packet, after SRTP has been removed (RFC 3550 §5.1): fields by value, lists as ranges of the packet.
///
/// Parsing allocates nothing. CSRCs are stepped over; header extensions stay where they lie, and `HeaderExtensions` reads them.
///
///     let header = try RTPHeader(parsing: packet.bytes)
///     let payload = packet[header.payload(inPacketOf: packet.count)]
@frozen
public struct RTPHeader: Equatable, Sendable {
    /// The last packet of a picture; the first one after a silence of audio.
    public var marker: Bool
    /// 0 to 127; 64 to 95 would be taken for RTCP (RFC 5761 §4).
    public var payloadType: UInt8
    /// Rises by one with each packet, and wraps.
    public var sequenceNumber: UInt16
    /// In ticks of the payload's clock, see `ClockRate`; begins anywhere, and wraps.
    public var timestamp: UInt32
    /// Whose packet it is.
    public var ssrc: UInt32
    /// 0 to 15; they stand at offset 12.
    public var csrcCount: UInt8
    /// Header extension elements, if the X bit is set.
    public var extensions: HeaderExtensions?
    /// Where the payload starts.
    public var byteCount: Int
    /// Bytes at the end of the packet that are no payload.
    public var paddingByteCount: Int

    /// The fixed header, without CSRCs and extensions.
    @inlinable public static var fixedByteCount: Int { 12 }

    /// A header without CSRCs, extensions and padding.
    @inlinable
    public init(marker: Bool, payloadType: UInt8, sequenceNumber: UInt16, timestamp: UInt32, ssrc: UInt32) {
        (self.marker, self.payloadType, self.sequenceNumber) = (marker, payloadType, sequenceNumber)
        (self.timestamp, self.ssrc) = (timestamp, ssrc)
        (csrcCount, extensions, byteCount, paddingByteCount) = (0, nil, Self.fixedByteCount, 0)
    }

    /// - Throws: `.truncated`, `.unsupportedVersion`, `.invalidPadding`; elements of an extension are checked when they are read.
    @inlinable
    public init(parsing packet: RawSpan) throws(RTPError) {
        var reader = ByteReader(packet)
        guard let flags = reader.read(UInt8.self), let markerAndType = reader.read(UInt8.self),
            let sequenceNumber = reader.read(UInt16.self), let timestamp = reader.read(UInt32.self),
            let ssrc = reader.read(UInt32.self)
        else { throw .truncated }
        guard flags >> 6 == 2 else { throw .unsupportedVersion(flags >> 6) }
        self.init(
            marker: markerAndType & 0x80 != 0, payloadType: markerAndType & 0x7F, sequenceNumber: sequenceNumber,
            timestamp: timestamp, ssrc: ssrc)
        csrcCount = flags & 0x0F
        guard reader.skip(4 * Int(csrcCount)) else { throw .truncated }
        if flags & 0x10 != 0 {
            guard let profile = reader.read(UInt16.self), let words = reader.read(UInt16.self) else { throw .truncated }
            extensions = HeaderExtensions(profile: profile, offset: reader.offset, byteCount: 4 * Int(words))
            guard reader.skip(4 * Int(words)) else { throw .truncated }
        }
        byteCount = reader.offset
        if flags & 0x20 != 0 {
            guard let count = packet.lastByte, reader.remaining > 0 else { throw .truncated }
            guard count > 0, Int(count) <= reader.remaining else { throw .invalidPadding(count) }
            paddingByteCount = Int(count)
        }
    }

    /// Where the payload lies in a packet of `packetByteCount` bytes, the one this header was parsed from.
    @inlinable
    public func payload(inPacketOf packetByteCount: Int) -> Range<Int> { byteCount..<(packetByteCount - paddingByteCount) }

    /// Writes the 12 fixed bytes: version 2, no padding, no CSRCs, no extension.
    /// - Precondition: `buffer` holds 12 bytes; the caller owns it and made it large enough.
    @inlinable
    public func writeFixed(into buffer: UnsafeMutableRawPointer) {
        unsafe buffer.storeBytes(of: 0x80, as: UInt8.self)
        unsafe buffer.storeBytes(of: (marker ? 0x80 : 0) | payloadType, toByteOffset: 1, as: UInt8.self)
        unsafe buffer.storeBytes(of: sequenceNumber.bigEndian, toByteOffset: 2, as: UInt16.self)
        unsafe buffer.storeBytes(of: timestamp.bigEndian, toByteOffset: 4, as: UInt32.self)
        unsafe buffer.storeBytes(of: ssrc.bigEndian, toByteOffset: 8, as: UInt32.self)
    }
}

extension RawSpan {
    /// The last byte; nil when there is none.
    @inlinable
    var lastByte: UInt8? {
        guard byteCount > 0 else { return nil }
        return unsafe unsafeLoad(fromByteOffset: byteCount - 1, as: UInt8.self)  // in bounds: guarded above
    }
}

/// Why a datagram is not RTP, or breaks its own lengths. One bad datagram is counted and dropped.
public enum RTPError: Error, Equatable, Sendable {
    /// The datagram ends inside the header.
    case truncated
    /// The two bits are not 2.
    case unsupportedVersion(UInt8)
    /// The padding count is zero or reaches into the header (RFC 3550 §5.1).
    case invalidPadding(UInt8)
    /// A header extension element runs over the end of the extension (RFC 8285 §4).
    case invalidExtension
}
