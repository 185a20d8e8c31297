import COpenSSL

/// What an offer says of its DTLS certificate (RFC 8122 §5).
public struct CertificateFingerprint: Equatable, Sendable {
    /// `sha-256`, `sha-384` or `sha-512`; others are never a match.
    public var hash: String
    public var bytes: [UInt8]

    public init(hash: String, bytes: [UInt8]) { (self.hash, self.bytes) = (hash, bytes) }

    /// Whether `certificate`, in DER, is the one named.
    func matches(_ certificate: [UInt8]) -> Bool {
        guard let digest = Self.digest(of: certificate, hash: hash), digest.count == bytes.count else { return false }
        return zip(digest, bytes).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    static func digest(of bytes: [UInt8], hash: String) -> [UInt8]? {
        let method =
            switch hash {
            case "sha-256": unsafe EVP_sha256()
            case "sha-384": unsafe EVP_sha384()
            case "sha-512": unsafe EVP_sha512()
            default: unsafe Optional<OpaquePointer>.none
            }
        guard let method = unsafe method else { return nil }
        var digest = [UInt8](repeating: 0, count: 64)
        var count: UInt32 = 0
        guard unsafe EVP_Digest(bytes, bytes.count, &digest, &count, method, nil) == 1 else { return nil }
        return Array(digest[..<Int(count)])
    }

    /// The hashes we know, with the length of each.
    public static let byteCounts = ["sha-256": 32, "sha-384": 48, "sha-512": 64]
}
