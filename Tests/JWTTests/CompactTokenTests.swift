import JSON
import Testing
import Wire

@testable import JWT

@Suite("Compact tokens (RFC 7515 §7.1)")
struct CompactTokenTests {
    static let signature = [UInt8](repeating: 7, count: 96)
    static let input = CompactToken.signingInput(keyID: "key", payload: ["a": 1])
    static let token = CompactToken.serialized(signingInput: input, signature: signature)

    static func token(header: String, signature: [UInt8] = signature) -> [UInt8] {
        Base64.url.encode(Array(header.utf8)) + Array(".e30.".utf8) + Base64.url.encode(signature)
    }

    @Test
    func `splits what it wrote`() throws {
        let token = try CompactToken(parsing: Self.token)
        #expect(token.keyID == "key")
        #expect(token.signature == Self.signature)
        #expect(token.signingInput == Self.input)
        #expect(token.payload == Array(#"{"a":1}"#.utf8))
    }

    @Test(arguments: 0..<token.count)
    func `refuses a token cut short`(at length: Int) {
        #expect(throws: JWTError.self) { try CompactToken(parsing: Array(Self.token.prefix(length))) }
    }

    static let headers: [(String, JWTError)] = [
        (#"{"alg":"none","typ":"JWT","kid":"k"}"#, .unsupportedAlgorithm),
        (#"{"alg":"KMS","typ":"JWT"}"#, .unsupportedAlgorithm),
        (#"{"alg":"es384","typ":"JWT","kid":"k"}"#, .unsupportedAlgorithm),
        (#"{"alg":"HS384","typ":"JWT","kid":"k"}"#, .unsupportedAlgorithm),
        (#"{"alg":["ES384"],"typ":"JWT","kid":"k"}"#, .unsupportedAlgorithm),
        (#"{"typ":"JWT","kid":"k"}"#, .unsupportedAlgorithm),
        (#"{"alg":"ES384","kid":"k"}"#, .unsupportedType),
        (#"{"alg":"ES384","typ":"JWS","kid":"k"}"#, .unsupportedType),
        (#"{"alg":"ES384","typ":"JWT"}"#, .missingKeyID),
        (#"{"alg":"ES384","typ":"JWT","kid":""}"#, .missingKeyID),
        (#"{"alg":"ES384","typ":"JWT","kid":7}"#, .missingKeyID),
        (#"{"alg":"ES384","typ":"JWT","kid":"k","crit":["exp"]}"#, .unsupportedHeader("crit")),
        (#"{"alg":"none","alg":"ES384","typ":"JWT","kid":"k"}"#, .invalidJSON("header")),
        (#"["ES384"]"#, .invalidJSON("header")), ("", .invalidJSON("header")),
    ]

    @Test(arguments: headers)
    func `any header but ours is refused`(_ header: String, _ error: JWTError) {
        #expect(throws: error) { try CompactToken(parsing: Self.token(header: header)) }
    }

    @Test(arguments: [0, 64, 95, 97, 104])
    func `a signature has 96 bytes`(_ length: Int) {
        let token = Self.token(
            header: #"{"alg":"ES384","typ":"JWT","kid":"k"}"#, signature: [UInt8](repeating: 1, count: length))
        #expect(throws: JWTError.wrongSignatureLength) { try CompactToken(parsing: token) }
    }

    @Test(arguments: ["", ".", "a.b", "a.b.c.d"])
    func `a token has three parts`(_ text: String) {
        #expect(throws: JWTError.self) { try CompactToken(parsing: Array(text.utf8)) }
    }

    @Test
    func `a token has at most four kilobytes`() {
        #expect(throws: JWTError.tooLong) { try CompactToken(parsing: [UInt8](repeating: 65, count: 4_097)) }
    }
}
