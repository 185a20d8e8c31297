public import Wire

/// `a=crypto` (RFC 4568 §9.1, SDES): an SRTP suite with its key, for stage routers reached over a trusted channel.
public struct CryptoAttribute: TypedAttribute, Equatable {
    public static let attributeName = "crypto"
    public var tag: UInt32
    /// `AEAD_AES_128_GCM`, `AES_CM_128_HMAC_SHA1_80`.
    public var suite: String
    /// The base64 text after `inline:`, without lifetime and MKI.
    public var inlineKey: Secret
    /// Lifetime and MKI after the key, as written.
    public var keyParameters: String?
    public var sessionParameters: String?

    public init(tag: UInt32, suite: String, inlineKey: Secret) {
        (self.tag, self.suite, self.inlineKey) = (tag, suite, inlineKey)
    }

    public init?(attributeValue: Substring) {
        let parts = words(attributeValue, maximum: 4)
        guard parts.count >= 3, let tag = UInt32(parts[0]), parts[2].hasPrefix("inline:") else { return nil }
        let key = parts[2].dropFirst(7).split(separator: "|", maxSplits: 1)
        guard let first = key.first else { return nil }
        self.init(tag: tag, suite: String(parts[1]), inlineKey: Secret(first))
        keyParameters = key.count == 2 ? String(key[1]) : nil
        sessionParameters = parts.count == 4 ? String(parts[3]) : nil
    }

    /// The value with the key in clear: never log it.
    public var attributeValue: String {
        "\(tag) \(suite) inline:\(inlineKey.revealText())" + (keyParameters.map { "|" + $0 } ?? "")
            + (sessionParameters.map { " " + $0 } ?? "")
    }
}
