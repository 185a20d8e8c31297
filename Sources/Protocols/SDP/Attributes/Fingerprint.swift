import Wire

/// `a=fingerprint` (RFC 8122 §5): the hash of the certificate that the DTLS peer will show.
public struct Fingerprint: TypedAttribute, Equatable {
    public static let attributeName = "fingerprint"
    /// `sha-256` …, in lower case.
    public var hashFunction: String
    public var bytes: [UInt8]

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
