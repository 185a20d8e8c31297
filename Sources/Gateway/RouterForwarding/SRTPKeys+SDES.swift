import OpenSSL
import SDP
import SRTP
import Wire

/// SDES (RFC 4568): keys as `a=crypto` carries them.
extension SRTPKeys {
    static func random(_ profile: SRTPProfile) -> SRTPKeys {
        let count = profile.masterKeyByteCount + profile.masterSaltByteCount
        return SRTPKeys(profile: profile, keyAndSalt: Secret(Random.bytes(count: count)))
    }

    var crypto: (suite: String, inlineKey: Secret) { (profile.sdesName, Secret(Base64.standard.encode(keyAndSalt.reveal()))) }

    /// Nil for suites we do not speak and keys of the wrong length.
    init?(_ attribute: CryptoAttribute) {
        guard let profile = SRTPProfile.allCases.first(where: { $0.sdesName == attribute.suite }),
            let bytes = Base64.standard.decode(attribute.inlineKey.reveal()),
            bytes.count == profile.masterKeyByteCount + profile.masterSaltByteCount
        else { return nil }
        self.init(profile: profile, keyAndSalt: Secret(bytes))
    }
}
