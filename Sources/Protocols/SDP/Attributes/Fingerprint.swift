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
            guard pair.utf8.count == 2, let byte = UInt8(pair, radix: 16) else { return nil }
            bytes.append(byte)
        }
        hashFunction = parts[0].lowercased()
    }

    public var attributeValue: String {
        var pairs: [UInt8] = []
        for byte in bytes { pairs += [Self.digits[Int(byte >> 4)], Self.digits[Int(byte & 15)], UInt8(ascii: ":")] }
        return hashFunction + " " + String(decoding: pairs.dropLast(), as: UTF8.self)
    }

    private static let digits = Array("0123456789ABCDEF".utf8)
    /// SHA-512.
    static let maximumByteCount = 64
}
