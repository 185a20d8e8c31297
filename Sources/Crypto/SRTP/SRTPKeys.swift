public import Wire

/// The master key and salt of one direction, as DTLS exported them or SDES carried them.
public struct SRTPKeys: Sendable, Equatable {
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
