import JSON
import JWT
import OpenSSL
import Refusals
import Settings
import TestSupport
import Testing
import Wire

@testable import Store

/// A stage, an imported key pair, the server's own key, and a verifier over them at one fixed moment.
final class TokenBench: Sendable {
    static let now = WallTime(secondsSince1970: 1_800_000_000)
    static let endpoints = StageEndpoints(events: "wss://e", whip: "https://w/whip", rtmp: "rtmp://r", rtmps: "rtmps://r")
    static let stage = EmbeddedStoreTests.stage("abc")
    static let imported = ResourceName().arn(.publicKey, "imported")

    let directory: TemporaryDirectory
    let store: EmbeddedStore
    let authority: TokenAuthority
    let rules: TokenRules
    let verifier: TokenVerifier
    let key: ES384PrivateKey

    init(limits: LimitSettings? = nil) throws {
        directory = try TemporaryDirectory()
        let key = try ES384PrivateKey.generate()
        self.key = key
        var made: (TokenAuthority, TokenRules)?
        store = try EmbeddedStore(directory: directory.path) { transaction in
            let authority = try TokenAuthority(in: &transaction, names: ResourceName())
            let history = EndpointHistory(Self.endpoints, in: &transaction, now: Self.now)
            made = (authority, TokenRules(endpoints: history, authority: authority))
            transaction.put(Self.stage)
            let pem = String(decoding: key.publicKey.pem, as: UTF8.self)
            transaction.put(PublicKey(arn: Self.imported, material: pem, fingerprint: "", createdAt: Self.now))
        }
        let (authority, rules) = try #require(made)
        (self.authority, self.rules) = (authority, rules)
        var open = LimitSettings()
        (open.waitingPerSource, open.failuresPerMinute) = (1_000, 1_000)
        verifier = try TokenVerifier(
            store: store, authority: authority, rules: rules, limits: limits ?? open, wallNow: { Self.now })
    }

    /// The verifier's threads hold it while they serve.
    deinit { verifier.close() }

    func verify(_ token: [UInt8], from source: IPAddress = .loopback) async -> Result<VerifiedToken, Refusal> {
        await withCheckedContinuation { continuation in
            verifier.verify(Secret(token), source: source) { continuation.resume(returning: $0) }
        }
    }

    static var claims: JSONObject {
        ParticipantClaims(
            participantID: "p_1-x", stageARN: stage.arn, stageID: "abc", issuedAt: 1_800_000_000, expiresAt: 1_800_043_200,
            eventsURL: "wss://e", whipURL: "https://w/whip", allowsPublish: true, allowsSubscribe: true
        ).payload
    }

    func sign(_ payload: JSONObject, keyID: String = imported) throws -> [UInt8] {
        try sign(input: CompactToken.signingInput(keyID: keyID, payload: payload))
    }

    func sign(input: [UInt8]) throws -> [UInt8] {
        CompactToken.serialized(signingInput: input, signature: try key.sign(input))
    }

    func sign(header: String, payload: String) throws -> [UInt8] {
        try sign(input: Base64.url.encode(Array(header.utf8)) + [46] + Base64.url.encode(Array(payload.utf8)))
    }
}
