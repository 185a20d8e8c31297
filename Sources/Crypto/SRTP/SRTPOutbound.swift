import CSRTP

/// Protects packets toward one peer (RFC 3711 §3.3, §3.4). The same sequence number is never protected twice.
@safe public struct SRTPOutbound: ~Copyable {
    private let context: SRTPContext

    public init(_ keys: SRTPKeys) throws(SRTPError) { context = try SRTPContext(keys, direction: .outbound) }

    /// Protects the first `count` bytes of `buffer`, an RTP packet, in place.
    /// - Parameter buffer: at least `trailerByteCount` longer than the packet; our own code sees to that.
    /// - Returns: the length of the protected packet, bytes.
    public mutating func protect(_ buffer: UnsafeMutableRawBufferPointer, count: Int) throws(SRTPError) -> Int {
        precondition(buffer.count >= count + Self.trailerByteCount)
        guard count >= 12, let base = buffer.baseAddress else { throw .malformed }
        var byteCount = CInt(truncatingIfNeeded: count)
        try SRTPError.check(unsafe srtp_protect(context.session, base, &byteCount))
        return Int(byteCount)
    }

    /// Protects the first `count` bytes of `buffer`, a compound RTCP packet, in place.
    /// - Returns: the length of the protected packet, bytes.
    public mutating func protectControl(_ buffer: UnsafeMutableRawBufferPointer, count: Int) throws(SRTPError) -> Int {
        precondition(buffer.count >= count + Self.trailerByteCount)
        guard count >= 8, let base = buffer.baseAddress else { throw .malformed }
        var byteCount = CInt(truncatingIfNeeded: count)
        try SRTPError.check(unsafe srtp_protect_rtcp(context.session, base, &byteCount))
        return Int(byteCount)
    }

    /// The most that protection adds: a 16-byte tag and RTCP's 4-byte index.
    public static let trailerByteCount = 20
}
