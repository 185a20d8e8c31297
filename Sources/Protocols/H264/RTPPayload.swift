/// An RTP payload of packetization-mode 1 (RFC 6184 §5.2): one NAL unit, several, or a part of one.
///
/// The views lie in the datagram and live as long as it.
@frozen
public enum RTPPayload {
    case single(UnsafeRawBufferPointer)
    case aggregation(STAPAUnits)
    case fragment(FUAFragment)

    /// - Throws: `.truncated` for an empty payload or a FU-A without its two headers; `.unexpectedType` for types of other modes.
    @inlinable
    public init(parsing payload: UnsafeRawBufferPointer) throws(H264Error) {
        guard let first = payload.first else { throw .truncated }
        switch first & 0x1F {
        case 1...23: self = .single(payload)
        case 24: self = .aggregation(STAPAUnits(UnsafeRawBufferPointer(rebasing: payload.dropFirst())))
        case 28: self = .fragment(try FUAFragment(parsing: payload))
        default: throw .unexpectedType(first & 0x1F)
        }
    }
}

/// The NAL units of a STAP-A (RFC 6184 §5.7.1).
@frozen
public struct STAPAUnits {
    @usableFromInline var units: AVCCUnits

    /// - Parameter body: the payload after the STAP-A header byte.
    @inlinable public init(_ body: UnsafeRawBufferPointer) { units = AVCCUnits(body, lengthSize: 2) }

    /// The next unit, its header byte first; nil at the end.
    /// - Throws: `.truncated`, `.lengthBeyondEnd`.
    @inlinable
    public mutating func next() throws(H264Error) -> UnsafeRawBufferPointer? { try units.next() }
}

/// One FU-A (RFC 6184 §5.8): a part of a NAL unit whose header is split over indicator and FU header.
@frozen
public struct FUAFragment {
    /// The header that the whole NAL unit has.
    public var header: NALUnitHeader
    public var isStart: Bool
    public var isEnd: Bool
    /// The bytes of the NAL unit in this fragment, without its header byte; there may be none.
    public var body: UnsafeRawBufferPointer

    /// - Parameter payload: the whole RTP payload.
    /// - Throws: `.truncated` with fewer than two bytes.
    @inlinable
    public init(parsing payload: UnsafeRawBufferPointer) throws(H264Error) {
        guard payload.count >= 2 else { throw .truncated }
        header = NALUnitHeader(payload[0] & 0xE0 | payload[1] & 0x1F)
        (isStart, isEnd) = (payload[1] & 0x80 != 0, payload[1] & 0x40 != 0)
        body = UnsafeRawBufferPointer(rebasing: payload.dropFirst(2))
    }
}
