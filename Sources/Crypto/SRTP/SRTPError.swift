import CSRTP

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
