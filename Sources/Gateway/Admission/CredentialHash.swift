import OpenSSL
public import Wire

/// SHA-256 of a stream key or token: what tables, caches and logs hold in place of the credential.
public struct CredentialHash: Hashable, Sendable {
    private let bytes: [UInt8]

    public init(of credential: Secret) { bytes = Digest.sha256(credential.reveal()) }

    /// The first 64 bits in hexadecimal: enough to compare log lines. Operators have the same of a key that they know:
    /// `printf %s KEY | sha256sum | head -c 16`.
    public var text: String { String(hexadecimal: bytes.prefix(8)) }
}
