import CSRTP

/// Removes SRTP protection from one peer's packets (RFC 3711 §3.3, §3.4): one key, a bounded number of sources.
///
/// Packets are unprotected where they lie. Packets that fail make no state: a source counts once a packet of it was genuine.
@safe public struct SRTPInbound: ~Copyable {
    private let context: SRTPContext
    private var sources = InlineArray<16, UInt32>(repeating: 0)
    public private(set) var sourceCount = 0

    public init(_ keys: SRTPKeys) throws(SRTPError) { context = try SRTPContext(keys, direction: .inbound) }

    /// Unprotects an RTP packet in place.
    /// - Returns: the length of the plain packet, bytes.
    public mutating func unprotect(_ packet: UnsafeMutableRawBufferPointer) throws(SRTPError) -> Int {
        guard packet.count >= 12, let base = packet.baseAddress else { throw .malformed }
        let ssrc = unsafe UInt32(bigEndian: packet.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
        let isKnown = try admits(ssrc)
        var byteCount = CInt(truncatingIfNeeded: packet.count)
        try SRTPError.check(unsafe srtp_unprotect(context.session, base, &byteCount))
        if !isKnown { remember(ssrc) }
        return Int(byteCount)
    }

    /// Unprotects a compound RTCP packet in place.
    /// - Returns: the length of the plain packet, bytes.
    public mutating func unprotectControl(_ packet: UnsafeMutableRawBufferPointer) throws(SRTPError) -> Int {
        guard packet.count >= 8, let base = packet.baseAddress else { throw .malformed }
        let ssrc = unsafe UInt32(bigEndian: packet.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
        let isKnown = try admits(ssrc)
        var byteCount = CInt(truncatingIfNeeded: packet.count)
        try SRTPError.check(unsafe srtp_unprotect_rtcp(context.session, base, &byteCount))
        if !isKnown { remember(ssrc) }
        return Int(byteCount)
    }

    private func admits(_ ssrc: UInt32) throws(SRTPError) -> Bool {
        for index in 0..<sourceCount where sources[index] == ssrc { return true }
        guard sourceCount < Self.maximumSourceCount else { throw .tooManySources }
        return false
    }

    private mutating func remember(_ ssrc: UInt32) {
        sources[sourceCount] = ssrc
        sourceCount += 1
    }

    /// Audio, three layers, their retransmissions, and as many again after an encoder restarted its sources.
    public static let maximumSourceCount = 16
}
