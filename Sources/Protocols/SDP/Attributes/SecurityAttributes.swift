public import Wire

/// `a=fingerprint` (RFC 8122 §5): the hash of the certificate that the DTLS peer will show.
public struct Fingerprint: TypedAttribute, Equatable {
    public static let attributeName = "fingerprint"
    /// `sha-256` …, in lower case.
    public var hashFunction: String
    /// At most 64.
    public var bytes: [UInt8]

    /// From its parts.
    public init(hashFunction: String, bytes: [UInt8]) { (self.hashFunction, self.bytes) = (hashFunction, bytes) }

    public init?(attributeValue: Substring) {
        let parts = words(attributeValue)
        guard parts.count == 2 else { return nil }
        let pairs = split(parts[1], at: ":")
        guard (1...Self.maximumByteCount).contains(pairs.count) else { return nil }
        bytes = []
        for pair in pairs {
            guard pair.utf8.count == 2, let byte = [UInt8](hexadecimal: pair) else { return nil }
            bytes += byte
        }
        hashFunction = parts[0].lowercased()
    }

    public var attributeValue: String {
        hashFunction + " " + String(hexadecimal: bytes, separator: ":", isUppercase: true)
    }

    /// SHA-512.
    static let maximumByteCount = 64
}

/// `a=crypto` (RFC 4568 §9.1, SDES): an SRTP suite with its key, for stage routers reached over a trusted channel.
public struct CryptoAttribute: TypedAttribute, Equatable {
    public static let attributeName = "crypto"
    /// An answer repeats the tag of the line that it takes.
    public var tag: UInt32
    /// `AEAD_AES_128_GCM`, `AES_CM_128_HMAC_SHA1_80`.
    public var suite: String
    /// The base64 text after `inline:`, without lifetime and MKI.
    public var inlineKey: Secret
    /// Lifetime and MKI after the key, as written.
    public var keyParameters: String?
    /// What follows the key, as written.
    public var sessionParameters: String?

    /// A line with one key, without lifetime, MKI and session parameters.
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
