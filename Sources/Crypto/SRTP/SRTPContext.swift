import CSRTP
import Wire

/// libsrtp's session of one direction: made from one key, freed once.
@safe final class SRTPContext {
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

    /// 4 s at 1,000 packets a second: a retransmission that comes 3 s late is no replay (libsrtp's default is 128).
    static let replayWindow: UInt = 4_096
}
