import OpenSSL
import Testing
import Wire

@testable import Store

@Suite("Tokens offline")
struct TokenInspectionTests {
    static let now = WallTime(secondsSince1970: 1_800_000_000)

    private func mint(_ key: ES384PrivateKey) throws -> Secret {
        let authority = try TokenAuthority(keyID: "arn/key", privateKey: Secret(key.pem))
        var request = TokenAuthority.Request(participantID: "p")
        request.attributes = ["k": "v"]
        return try authority.mint(
            request, stageARN: EmbeddedStoreTests.stage("abc").arn,
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
}
