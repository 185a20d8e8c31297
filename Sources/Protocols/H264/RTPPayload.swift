/// An RTP payload of packetization-mode 1 (RFC 6184 §5.2): one NAL unit, several, or a part of one.
///
/// The views lie in the datagram and live as long as it.
@frozen
@safe public enum RTPPayload {
    /// One NAL unit, its header byte first (types 1 to 23).
    case single(UnsafeRawBufferPointer)
    /// STAP-A.
    case aggregation(STAPAUnits)
    /// FU-A.
    case fragment(FUAFragment)

    /// - Throws: `.truncated` for an empty payload or a FU-A without its two headers; `.unexpectedType` for types of other modes.
    @inlinable
    public init(parsing payload: UnsafeRawBufferPointer) throws(H264Error) {
        guard let first = unsafe payload.first else { throw .truncated }
        switch first & 0x1F {
        case 1...23: self = unsafe .single(payload)
        case 24: self = unsafe .aggregation(STAPAUnits(UnsafeRawBufferPointer(rebasing: payload.dropFirst())))
        case 28: self = unsafe .fragment(try FUAFragment(parsing: payload))
        default: throw .unexpectedType(first & 0x1F)
        }
    }
}

/// The NAL units of a STAP-A (RFC 6184 §5.7.1).
@frozen
public struct STAPAUnits {
    @usableFromInline var units: AVCCUnits

    /// - Parameter body: the payload after the STAP-A header byte.
    @inlinable public init(_ body: UnsafeRawBufferPointer) { units = unsafe AVCCUnits(body, lengthSize: 2) }

    /// The next unit, its header byte first; nil at the end.
    /// - Throws: `.truncated`, `.lengthBeyondEnd`.
    @inlinable
    public mutating func next() throws(H264Error) -> UnsafeRawBufferPointer? { unsafe try units.next() }
}

/// One FU-A (RFC 6184 §5.8): a part of a NAL unit whose header is split over indicator and FU header.
@frozen
@safe public struct FUAFragment {
    /// The header that the whole NAL unit has.
    public var header: NALUnitHeader
    /// The first fragment of its NAL unit.
    public var isStart: Bool
    /// The last fragment of its NAL unit.
    public var isEnd: Bool
    /// The bytes of the NAL unit in this fragment, without its header byte; there may be none.
    public var body: UnsafeRawBufferPointer

    /// - Parameter payload: the whole RTP payload.
    /// - Throws: `.truncated` with fewer than two bytes.
    @inlinable
    public init(parsing payload: UnsafeRawBufferPointer) throws(H264Error) {
        guard payload.count >= 2 else { throw .truncated }
        header = unsafe NALUnitHeader(payload[0] & 0xE0 | payload[1] & 0x1F)
        (isStart, isEnd) = unsafe (payload[1] & 0x80 != 0, payload[1] & 0x40 != 0)
        unsafe body = UnsafeRawBufferPointer(rebasing: payload.dropFirst(2))
    }
}
