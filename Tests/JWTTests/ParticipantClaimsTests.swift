import JSON
import TestSupport
import Testing

@testable import JWT

@Suite("Participant token claims")
struct ParticipantClaimsTests {
    static let claims = ParticipantClaims(
        participantID: "xyZ_-9", stageARN: "arn:aws:ivs:us-east-1:000000000000:stage/abc", stageID: "abc",
        issuedAt: 1_800_000_000, expiresAt: 1_800_043_200, eventsURL: "wss://e", whipURL: "https://w", allowsPublish: true,
        allowsSubscribe: false, userID: "Jürgen", attributes: ["name": "日本"])
    static let payload = JSONValue.object(claims.payload).serialized()

    static func payload(_ name: String, _ value: JSONValue?) -> [UInt8] {
        var object = claims.payload
        object[name] = value
        return JSONValue.object(object).serialized()
    }

    @Test
    func `claims are written as they are read`() throws {
        #expect(try ParticipantClaims(parsing: Self.payload) == Self.claims)
    }

    @Test(arguments: 0..<payload.count)
    func `refuses a payload cut short`(at length: Int) {
        #expect(throws: JWTError.invalidJSON("payload")) { try ParticipantClaims(parsing: Array(Self.payload.prefix(length))) }
    }

    @Test(arguments: ["exp", "iat", "jti", "resource", "topic", "events_url", "whip_url", "capabilities", "version"])
    func `each mandatory claim must be there`(_ name: String) {
        #expect(throws: JWTError.missingClaim(name)) { try ParticipantClaims(parsing: Self.payload(name, nil)) }
    }

    @Test(arguments: ["user_id", "attributes", "nbf"])
    func `optional claims may be absent`(_ name: String) throws {
        _ = try ParticipantClaims(parsing: Self.payload(name, nil))
    }

    static let wrong: [(String, JSONValue)] = [
        ("exp", "1800043200"), ("exp", .number(1_800_043_200.5)), ("exp", -1), ("exp", .integer(claims.issuedAt)),
        ("exp", .integer(claims.issuedAt + ParticipantClaims.maximumLifetime + 1)), ("iat", nil), ("iat", true),
        ("nbf", "soon"), ("jti", ""), ("jti", "a b"), ("jti", "ä"), ("jti", 7),
        ("jti", .string(String(repeating: "a", count: 65))), ("user_id", 7), ("user_id", "a\u{0}b"),
        ("user_id", .string(String(repeating: "ü", count: 129))), ("resource", 1), ("topic", "abd"), ("topic", ""),
        ("events_url", 1), ("whip_url", nil), ("capabilities", []), ("capabilities", ["allow_publish": "true"]),
        ("attributes", ["a": 1]), ("attributes", []),
        ("attributes", ["k": .string(String(repeating: "x", count: 1_024))]), ("attributes", ["\u{E9}": "1", "e\u{301}": "2"]),
        ("version", 1.0), ("version", "1.1"),
    ]

    @Test(arguments: wrong)
    func `a claim of another type or beyond its limit is named`(_ name: String, _ value: JSONValue) {
        #expect(throws: JWTError.invalidClaim(name)) { try ParticipantClaims(parsing: Self.payload(name, value)) }
    }

    /// As strings they are equal to `K1`.
    @Test(arguments: [("K1", "\u{212A}1", "topic"), ("\u{212A}1", "K1", "resource"), ("\u{212A}1", "\u{212A}1", "resource")])
    func `a stage is known by its bytes`(_ resource: String, _ topic: String, _ wrong: String) {
        var claims = Self.claims
        (claims.stageARN, claims.stageID) = ("arn:aws:ivs:us-east-1:000000000000:stage/\(resource)", topic)
        let payload = JSONValue.object(claims.payload).serialized()
        #expect(throws: JWTError.invalidClaim(wrong)) { try ParticipantClaims(parsing: payload) }
    }

    @Test
    func `limits themselves are taken`() throws {
        _ = try ParticipantClaims(parsing: Self.payload("jti", .string(String(repeating: "a", count: 64))))
        _ = try ParticipantClaims(parsing: Self.payload("user_id", .string(String(repeating: "ü", count: 128))))
        _ = try ParticipantClaims(parsing: Self.payload("attributes", ["k": .string(String(repeating: "x", count: 1_023))]))
        _ = try ParticipantClaims(
            parsing: Self.payload("exp", .integer(Self.claims.issuedAt + ParticipantClaims.maximumLifetime)))
    }

    @Test
    func `attributes are read, however many a token has`() throws {
        var claims = Self.claims
        claims.attributes = Dictionary(uniqueKeysWithValues: (100..<350).map { ("\($0)", "") })
        let input = CompactToken.signingInput(keyID: "key", payload: claims.payload)
        let token = CompactToken.serialized(signingInput: input, signature: [UInt8](repeating: 7, count: 96))
        #expect(try ParticipantClaims(parsing: CompactToken(parsing: token).payload) == claims)
    }

    static let moments: [(Int64, ParticipantClaims.Validity)] = [
        (1_800_000_000, .valid), (1_800_043_259, .valid), (1_800_043_260, .expired), (1_799_999_940, .valid),
        (1_799_999_939, .notYet),
    ]

    @Test(arguments: moments)
    func `times have a leeway of a minute`(_ now: Int64, _ validity: ParticipantClaims.Validity) {
        #expect(Self.claims.validity(at: now) == validity)
    }
}
