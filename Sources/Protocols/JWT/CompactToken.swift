public import JSON
import Wire

/// A signed token in its compact form (RFC 7515 §7.1), split and decoded, its signature not yet verified.
///
///     let token = try CompactToken(parsing: bytes)
///     guard key(token.keyID).isValid(token.signature, over: token.signingInput) else { … }
///     let claims = try ParticipantClaims(parsing: token.payload)
public struct CompactToken: Equatable, Sendable {
    /// Bytes of a whole token, at most.
    public static let maximumLength = 4_096
    /// R and S of ES384, 48 bytes each (RFC 7518 §3.4).
    public static let signatureLength = 96
    /// A depth that any honest header or payload stays far below, and more values than members fit
    /// into a token, of 7 bytes at least.
    static let limits = JSONLimits(maximumLength: maximumLength, maximumDepth: 4, maximumValues: 512)

    /// `kid`: the ARN of a public key, compared as it stands and never parsed.
    public var keyID: String
    /// The claims as JSON, decoded and not yet read; `ParticipantClaims` reads them.
    public var payload: [UInt8]
    /// R‖S.
    public var signature: [UInt8]
    /// What is signed: both first parts and the dot between them, as sent.
    public var signingInput: [UInt8]

    /// Splits and decodes; the header must say ES384 and JWT.
    public init(parsing token: [UInt8]) throws(JWTError) {
        guard token.count <= Self.maximumLength else { throw .tooLong }
        let parts = token.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw .wrongParts }
        let header = try Self.object(in: parts[0], named: "header")
        keyID = try Self.checkedKeyID(header)
        guard let payload = Base64.url.decode(parts[1]) else { throw .invalidBase64("payload") }
        guard let signature = Base64.url.decode(parts[2]) else { throw .invalidBase64("signature") }
        guard signature.count == Self.signatureLength else { throw .wrongSignatureLength }
        (self.payload, self.signature) = (payload, signature)
        signingInput = Array(token[..<parts[1].endIndex])
    }

    private static func object(in part: ArraySlice<UInt8>, named name: String) throws(JWTError) -> JSONObject {
        guard let bytes = Base64.url.decode(part) else { throw .invalidBase64(name) }
        guard case .object(let object)? = try? JSONValue(parsing: bytes, limits: limits) else { throw .invalidJSON(name) }
        return object
    }

    /// Unknown members are ignored as RFC 7515 §4 asks, so that no key or URL in a header is ever looked at.
    private static func checkedKeyID(_ header: JSONObject) throws(JWTError) -> String {
        guard header["alg"]?.string == "ES384" else { throw .unsupportedAlgorithm }
        guard header["typ"]?.string == "JWT" else { throw .unsupportedType }
        for name in ["crit", "b64", "zip"] where header[name] != nil { throw .unsupportedHeader(name) }
        guard let keyID = header["kid"]?.string, !keyID.isEmpty else { throw .missingKeyID }
        return keyID
    }
}

extension CompactToken {
    /// The bytes to sign for `payload` under the key called `keyID`.
    public static func signingInput(keyID: String, payload: JSONObject) -> [UInt8] {
        let header: JSONValue = ["alg": "ES384", "typ": "JWT", "kid": .string(keyID)]
        return Base64.url.encode(header.serialized()) + [UInt8(ascii: ".")]
            + Base64.url.encode(JSONValue.object(payload).serialized())
    }

    /// The whole token: what was signed, and the signature as R‖S.
    public static func serialized(signingInput: [UInt8], signature: [UInt8]) -> [UInt8] {
        signingInput + [UInt8(ascii: ".")] + Base64.url.encode(signature)
    }
}

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
