/// Why a signed request is not believed. Clients are told apart what they can mend: the rest is one answer.
public enum SignatureV4Error: Error, Equatable, Sendable {
    /// No `Authorization`, or of another scheme.
    case missing
    /// Not the form that AWS Signature Version 4 prescribes.
    case malformed
    case unknownAccessKey
    /// Signed for another region or service.
    case wrongScope
    /// Further from our clock than `SignatureV4Verifier.maximumSkew`.
    case skewed
    /// A header that must be signed is not, or the body is not the one that was signed.
    case unsigned(String)
    case mismatch
}
