import CSRTP
import Wire

/// Removes SRTP protection from one peer's packets (RFC 3711 §3.3, §3.4): one key, a bounded number of sources.
///
/// Packets are unprotected where they lie. Packets that fail make no state: a source counts once a packet of it was genuine.
///
///     let (client, server) = SRTPKeys.pair(exported: exported, profile: .aeadAES128GCM)
///     var inbound = try SRTPInbound(client)
///     let plainCount = try inbound.unprotect(packet)
@safe public struct SRTPInbound: ~Copyable {
    private let context: SRTPContext
    private var sources = InlineArray<16, UInt32>(repeating: 0)
    /// Sources of which a genuine packet came.
    public private(set) var sourceCount = 0

    /// - Parameter keys: those that the peer sends with.
    /// - Throws: `.failed` when libsrtp cannot be used.
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

/// Protects packets toward one peer (RFC 3711 §3.3, §3.4). The same sequence number is never protected twice.
@safe public struct SRTPOutbound: ~Copyable {
    private let context: SRTPContext

    /// - Parameter keys: those that we send with.
    /// - Throws: `.failed` when libsrtp cannot be used.
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

/// libsrtp's session of one direction: made from one key, freed once.
@safe private final class SRTPContext {
    enum Direction { case inbound, outbound }

    let session: srtp_t

    init(_ keys: SRTPKeys, direction: Direction) throws(SRTPError) {
        try SRTPError.check(SRTPLibrary.status)
        var material = keys.keyAndSalt.reveal()
        var session: srtp_t?
        let status = unsafe material.withUnsafeMutableBufferPointer { key in
            var policy = unsafe srtp_policy_t()
            unsafe srtp_crypto_policy_set_from_profile_for_rtp(&policy.rtp, keys.profile.libraryProfile)
            unsafe srtp_crypto_policy_set_from_profile_for_rtcp(&policy.rtcp, keys.profile.libraryProfile)
            unsafe policy.ssrc.type = direction == .inbound ? ssrc_any_inbound : ssrc_any_outbound
            unsafe policy.key = key.baseAddress
            unsafe policy.window_size = Self.replayWindow
            // Never encrypt twice under one key, SSRC and index: a retransmission sends the very bytes sent before.
            unsafe policy.allow_repeat_tx = 0
            return unsafe srtp_create(&session, &policy)
        }
        try SRTPError.check(status)
        guard let session = unsafe session else { throw .failed(status: -1) }
        unsafe self.session = session
    }

    deinit { unsafe srtp_dealloc(session) }

    /// As many packets as ingest looks back upon: 2 s at 1,000 a second, where a retransmission that comes late is no replay.
    /// Each source has a bit for each of them (libsrtp's default is 128).
    static let replayWindow: UInt = 2_048
}

/// Why a packet was not protected or unprotected, or a context not made.
public enum SRTPError: Error, Equatable, Sendable {
    /// Too short, or lengths inside it contradict each other.
    case malformed
    /// The tag does not fit: another key, or bytes changed on the way.
    case authenticationFailed
    /// This index was received before.
    case replayed
    /// Older than the replay window.
    case tooOld
    /// The context already carries `maximumSourceCount` sources.
    case tooManySources
    /// Keys used up (RFC 3711 §9.2), or an error of libsrtp's own by its number.
    case failed(status: Int)

    static func check(_ status: srtp_err_status_t) throws(SRTPError) {
        switch status {
        case srtp_err_status_ok: return
        case srtp_err_status_auth_fail, srtp_err_status_cipher_fail: throw .authenticationFailed
        case srtp_err_status_replay_fail: throw .replayed
        case srtp_err_status_replay_old: throw .tooOld
        case srtp_err_status_bad_param, srtp_err_status_parse_err: throw .malformed
        default: throw .failed(status: Int(status.rawValue))
        }
    }
}
