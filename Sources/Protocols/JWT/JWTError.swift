/// Why a text is not a participant token of ours. All of it is found before any signature is looked at.
public enum JWTError: Error, Equatable, Sendable {
    /// Over 4 KB.
    case tooLong
    /// Not three parts joined by dots.
    case wrongParts
    /// A part that is not canonical base64url; its name.
    case invalidBase64(String)
    /// A part that is not one JSON object without duplicate names; its name.
    case invalidJSON(String)
    /// Any `alg` but ES384; `none` and `KMS` among them.
    case unsupportedAlgorithm
    /// A `typ` other than `JWT`.
    case unsupportedType
    /// A header member that changes how the rest has to be read (`crit`, `b64`, `zip`), which we never do.
    case unsupportedHeader(String)
    /// A header without `kid`.
    case missingKeyID
    /// Not 96 bytes of R‖S: DER signatures are refused here.
    case wrongSignatureLength
    /// A required claim that is not there.
    case missingClaim(String)
    /// A claim of another type, or beyond its limits.
    case invalidClaim(String)
}
