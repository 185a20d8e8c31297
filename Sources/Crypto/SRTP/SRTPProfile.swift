import CSRTP

/// The protection profiles we negotiate by DTLS (RFC 5764 §4.1.2, RFC 7714 §14.2), by their registered number.
public enum SRTPProfile: UInt16, Sendable, CaseIterable {
    case aes128CMSHA1_80 = 0x0001
    case aeadAES128GCM = 0x0007

    public var masterKeyByteCount: Int { 16 }
    public var masterSaltByteCount: Int { self == .aeadAES128GCM ? 12 : 14 }
    /// Bytes that protection adds to an RTP packet.
    public var tagByteCount: Int { self == .aeadAES128GCM ? 16 : 10 }
    /// The name in OpenSSL's profile lists and, without its prefix, in `a=crypto`.
    public var opensslName: String { self == .aeadAES128GCM ? "SRTP_AEAD_AES_128_GCM" : "SRTP_AES128_CM_SHA1_80" }
    /// The suite name of SDES (RFC 4568 §6.2.1, RFC 7714 §14.1).
    public var sdesName: String { self == .aeadAES128GCM ? "AEAD_AES_128_GCM" : "AES_CM_128_HMAC_SHA1_80" }

    var libraryProfile: srtp_profile_t {
        self == .aeadAES128GCM ? srtp_profile_aead_aes_128_gcm : srtp_profile_aes128_cm_sha1_80
    }
}
