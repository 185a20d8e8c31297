// fuzz: module=JWT
import JSON
import JWT
import Wire

/// Feeds the same bytes to the splitter and, as a payload, to the claims.
enum JWTFuzz {
    static func run(_ bytes: UnsafeRawBufferPointer) {
        let input = Array(bytes)
        if let token = try? CompactToken(parsing: input) {
            precondition(token.signature.count == CompactToken.signatureLength)
            precondition(input.starts(with: token.signingInput))
        }
        if let claims = try? ParticipantClaims(parsing: input) {
            let written = JSONValue.object(claims.payload).serialized()
            precondition((try? ParticipantClaims(parsing: written)) == claims, "claims do not survive a round trip")
        }
        if let decoded = Base64.url.decode(input) { precondition(Base64.url.encode(decoded) == input) }
    }
}
