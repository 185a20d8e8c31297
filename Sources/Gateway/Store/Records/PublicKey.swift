public import Wire

/// A customer's key for participant tokens: EC P-384, SubjectPublicKeyInfo as PEM (`PublicKey` of the API model).
public struct PublicKey: Equatable, Sendable {
    public var arn: String
    public var name: String
    /// The PEM with a trailing newline, as GetPublicKey returns it.
    public var material: String
    /// MD5 of the SPKI DER as 16 hexadecimal pairs joined by colons.
    public var fingerprint: String
    public var tags: [String: String]
    public var createdAt: WallTime

    public init(
        arn: String, name: String = "", material: String, fingerprint: String, tags: [String: String] = [:],
        createdAt: WallTime
    ) {
        (self.arn, self.name, self.material, self.fingerprint) = (arn, name, material, fingerprint)
        (self.tags, self.createdAt) = (tags, createdAt)
    }
}
