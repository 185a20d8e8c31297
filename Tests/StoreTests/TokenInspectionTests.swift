import OpenSSL
import Refusals
import Testing
import Wire

@testable import Store

@Suite("Tokens offline")
struct TokenInspectionTests {
    static let now = WallTime(secondsSince1970: 1_800_000_000)

    private func mint(
        _ key: ES384PrivateKey, keyID: String = ResourceName().arn(.publicKey, "k"),
        stage: String = ResourceName().arn(.stage, "abc"), attributes: [String: String] = ["k": "v"]
    ) throws -> Secret {
        let authority = try TokenAuthority(keyID: keyID, privateKey: Secret(key.pem))
        var request = TokenAuthority.Request(participantID: "p")
        request.attributes = attributes
        return try authority.mint(
            request, stageARN: stage,
            endpoints: StageEndpoints(events: "wss://e", whip: "https://w", rtmp: "", rtmps: ""), now: Self.now
        ).token
    }

    @Test
    func `what was minted inspects without a fault`() throws {
        let key = try ES384PrivateKey.generate()
        let inspection = TokenInspection(try mint(key), publicKey: key.publicKey.pem, now: Self.now)
        #expect(inspection.faults.isEmpty)
        #expect(inspection.lines.contains("signature: good"))
        #expect(inspection.lines.contains("attribute k: v"))
    }

    @Test
    func `faults are named`() throws {
        let token = try mint(try ES384PrivateKey.generate())
        let other = try ES384PrivateKey.generate().publicKey.pem
        #expect(TokenInspection(token, publicKey: other, now: Self.now).faults == ["The signature is not this key's."])
        #expect(TokenInspection(token, now: Self.now + .seconds(90_000)).faults == ["The token has expired."])
        #expect(TokenInspection(Secret("x"), now: Self.now).faults.count == 1)
    }

    /// The words of a gateway, which has no stage and no key of such a name.
    static let hopeless: [(stage: String, keyID: String, attribute: String, word: String)] = [
        ("abc", ResourceName().arn(.publicKey, "k"), "v", "wrong claim topic"),
        (ResourceName().arn(.publicKey, "abc"), ResourceName().arn(.publicKey, "k"), "v", RefusalCode.stageDeleted.sentence),
        (ResourceName().arn(.stage, "a b"), ResourceName().arn(.publicKey, "k"), "v", RefusalCode.stageDeleted.sentence),
        (ResourceName().arn(.stage, "abc"), "k", "v", "key (kid) is unknown"),
        (
            ResourceName().arn(.stage, "abc"), ResourceName().arn(.publicKey, "k"), String(repeating: "x", count: 1_024),
            "wrong claim attributes"
        ),
    ]

    @Test(arguments: hopeless.indices)
    func `a token that every gateway refuses is told by its words`(_ row: Int) throws {
        let (stage, keyID, attribute, word) = Self.hopeless[row]
        let token = try mint(try ES384PrivateKey.generate(), keyID: keyID, stage: stage, attributes: ["k": attribute])
        let faults = TokenInspection(token, now: Self.now).faults
        #expect(faults.count == 1 && faults.allSatisfy { $0.contains(word) }, "\(faults)")
    }

    @Test
    func `what a terminal would obey is shown instead`() throws {
        let attributes = ["a\u{1B}[2J": "b\n\u{9B}c\u{202E}d\u{2028}é"]
        let inspection = TokenInspection(try mint(try ES384PrivateKey.generate(), attributes: attributes), now: Self.now)
        #expect(inspection.lines.last == "attribute a\\u{1B}[2J: b\\u{A}\\u{9B}c\\u{202E}d\\u{2028}é")
    }
}
