import EventLoop
import Foundation
import JWT
import OpenSSL
import Settings
import Store
import Wire

/// A store with one stage and one imported key, and the gateway's verifier over it: what a token meets when it arrives.
final class TokenBench {
    private static let endpoints = StageEndpoints(
        events: "wss://gateway.example/events", whip: "https://gateway.example/whip", rtmp: "rtmp://gateway.example/app",
        rtmps: "rtmps://gateway.example/app")

    let key: ES384PrivateKey
    let verifier: TokenVerifier
    private let minting: TokenAuthority
    private let stageARN: String
    private let store: EmbeddedStore

    /// - Parameter directory: empty, for the store's files.
    /// - Parameter count: tokens that may wait at once.
    init(directory: String, room count: Int) throws {
        let (key, now) = (try ES384PrivateKey.generate(), EventLoop.wallNow())
        let names = ResourceName()
        let (keyARN, stageARN) = (names.arn(.publicKey, "bench"), names.arn(.stage, "bench"))
        var rules: (TokenAuthority, TokenRules)?
        store = try EmbeddedStore(directory: directory) { transaction in
            let authority = try TokenAuthority(in: &transaction, names: names)
            let history = EndpointHistory(Self.endpoints, in: &transaction, now: now)
            transaction.put(Stage(arn: stageARN, createdAt: now))
            let pem = String(decoding: key.publicKey.pem, as: UTF8.self)
            transaction.put(PublicKey(arn: keyARN, material: pem, fingerprint: "", createdAt: now))
            rules = (authority, TokenRules(endpoints: history, authority: authority))
        }
        guard let (authority, rules) = rules else { preconditionFailure("a store is seeded before it answers") }
        var limits = LimitSettings()
        (limits.waitingPerSource, limits.failuresPerMinute) = (count, count)
        verifier = try TokenVerifier(store: store, authority: authority, rules: rules, limits: limits)
        minting = try TokenAuthority(keyID: keyARN, privateKey: Secret(key.pem))
        (self.key, self.stageARN) = (key, stageARN)
    }

    /// Tokens that nobody has seen yet, signed with the imported key's other half.
    func freshTokens(_ count: Int) throws -> [Secret] {
        try (0..<count).map { _ in
            try minting.mint(.init(), stageARN: stageARN, endpoints: Self.endpoints, now: EventLoop.wallNow()).token
        }
    }

    /// Asks for all at once and waits for every answer: how many were genuine.
    func verify(_ tokens: [Secret]) -> Int {
        let (answered, genuine) = (DispatchSemaphore(value: 0), Lock(0))
        for token in tokens {
            verifier.verify(token, source: .loopback) { result in
                if case .success = result { genuine.withLock { $0 += 1 } }
                answered.signal()
            }
        }
        for _ in tokens { answered.wait() }
        return genuine.withLock { $0 }
    }
}
