import CSRTP
public import Wire

/// The master key and salt of one direction, as DTLS exported them or SDES carried them.
public struct SRTPKeys: Sendable, Equatable {
    /// Which cipher they are for.
    public var profile: SRTPProfile
    /// Key, then salt.
    public var keyAndSalt: Secret

    /// - Parameter keyAndSalt: as many bytes as the profile takes; our own code supplies them, never the peer.
    public init(profile: SRTPProfile, keyAndSalt: Secret) {
        precondition(keyAndSalt.count == profile.masterKeyByteCount + profile.masterSaltByteCount)
        (self.profile, self.keyAndSalt) = (profile, keyAndSalt)
    }

    /// Both directions out of the exporter's bytes: client key, server key, client salt, server salt (RFC 5764 §4.2).
    public static func pair(exported: Secret, profile: SRTPProfile) -> (client: SRTPKeys, server: SRTPKeys) {
        let bytes = exported.reveal()
        let (key, salt) = (profile.masterKeyByteCount, profile.masterSaltByteCount)
        precondition(bytes.count == 2 * (key + salt), "the exporter gives what the profile asks for")
        func keys(_ index: Int) -> SRTPKeys {
            let saltStart = 2 * key + index * salt
            let material = bytes[(index * key)..<((index + 1) * key)] + bytes[saltStart..<(saltStart + salt)]
            return SRTPKeys(profile: profile, keyAndSalt: Secret(Array(material)))
        }
        return (keys(0), keys(1))
    }
}

/// The protection profiles we negotiate by DTLS (RFC 5764 §4.1.2, RFC 7714 §14.2), by their registered number.
public enum SRTPProfile: UInt16, Sendable, CaseIterable {
    /// AES-128 in counter mode, HMAC-SHA-1 of 80 bits (RFC 5764): what every WebRTC peer has.
    case aes128CMSHA1_80 = 0x0001
    /// AES-128-GCM (RFC 7714): half the cost.
    case aeadAES128GCM = 0x0007

    /// Bytes of the master key.
    public var masterKeyByteCount: Int { 16 }
    /// Bytes of the master salt.
    public var masterSaltByteCount: Int { self == .aeadAES128GCM ? 12 : 14 }
    /// The name in OpenSSL's profile lists and, without its prefix, in `a=crypto`.
    public var opensslName: String { self == .aeadAES128GCM ? "SRTP_AEAD_AES_128_GCM" : "SRTP_AES128_CM_SHA1_80" }
    /// The suite name of SDES (RFC 4568 §6.2.1, RFC 7714 §14.1).
    public var sdesName: String { self == .aeadAES128GCM ? "AEAD_AES_128_GCM" : "AES_CM_128_HMAC_SHA1_80" }

    var libraryProfile: srtp_profile_t {
        self == .aeadAES128GCM ? srtp_profile_aead_aes_128_gcm : srtp_profile_aes128_cm_sha1_80
    }
}
