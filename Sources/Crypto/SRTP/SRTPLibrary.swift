import CSRTP

/// libsrtp in this process, with types of our own where the way it calls OpenSSL 3.0 costs as much as the cryptography.
///
/// It tries a type on its own vectors and on ours before it takes it, and keeps its own type if one of them fails.
enum SRTPLibrary {
    static var status: srtp_err_status_t { started.status }
    /// Of AES-128-GCM and HMAC-SHA-1, in this order.
    static var areTypesReplaced: (Bool, Bool) { (started.hasOwnCipher, started.hasOwnAuthentication) }

    /// `srtp_init` runs once in a process, before any session is made.
    private static let started: (status: srtp_err_status_t, hasOwnCipher: Bool, hasOwnAuthentication: Bool) = {
        let status = srtp_init()
        guard status == srtp_err_status_ok else { return (status, false, false) }
        let cipher = unsafe GCMCipherType.type.map { unsafe srtp_replace_cipher_type($0, $0.pointee.id) }
        let authentication = unsafe srtp_replace_auth_type(HMACSHA1Type.type, HMACSHA1Type.type.pointee.id)
        return (status, cipher == srtp_err_status_ok, authentication == srtp_err_status_ok)
    }()
}
