import Admission
import EventLoop
import JSON
import JWT
import OpenSSL
import Refusals
import Settings
import Testing
import Wire

@testable import Store

/// One token of the table: what is done to a good one, and what the answer is.
private struct TokenCase: Sendable, CustomTestStringConvertible {
    var name: String
    var expected: RefusalCode?
    var make: @Sendable (TokenBench) throws -> [UInt8]
    var testDescription: String { name }

    init(_ name: String, _ expected: RefusalCode?, _ make: @escaping @Sendable (TokenBench) throws -> [UInt8]) {
        (self.name, self.expected, self.make) = (name, expected, make)
    }

    /// A signed token whose claim has another value, or none.
    static func claim(_ name: String, _ value: JSONValue?, _ expected: RefusalCode?) -> TokenCase {
        TokenCase("\(name) = \(value.map(\.description)?.prefix(40) ?? "absent")", expected) { bench in
            var claims = TokenBench.claims
            claims[name] = value
            return try bench.sign(claims)
        }
    }

    static func header(_ header: String, _ expected: RefusalCode?) -> TokenCase {
        TokenCase("header \(header)", expected) { bench in
            try bench.sign(header: header, payload: JSONValue.object(TokenBench.claims).description)
        }
    }
}

private let kid = #""kid":"arn:aws:ivs:us-east-1:000000000000:public-key/imported""#
private let cases: [TokenCase] =
    [
        TokenCase("a good key-pair token", nil) { try $0.sign(TokenBench.claims) },
        TokenCase("a good API token", nil) { bench in
            try bench.authority.mint(
                .init(), stageARN: TokenBench.stage.arn, endpoints: TokenBench.endpoints, now: TokenBench.now
            )
            .token.reveal()
        },
        // Algorithms and headers
        .header(#"{"alg":"ES384","typ":"JWT",\#(kid)}"#, nil),
        .header(#"{"kid":"arn:aws:ivs:us-east-1:000000000000:public-key/imported","typ":"JWT","alg":"ES384"}"#, nil),
        .header(#"{"alg":"ES384","typ":"JWT",\#(kid),"jku":"https://evil/keys","x5u":"https://evil"}"#, nil),
        .header(#"{"alg":"none","typ":"JWT",\#(kid)}"#, .tokenMalformed),
        .header(#"{"alg":"None","typ":"JWT",\#(kid)}"#, .tokenMalformed),
        .header(#"{"alg":"HS256","typ":"JWT",\#(kid)}"#, .tokenMalformed),
        .header(#"{"alg":"HS384","typ":"JWT",\#(kid)}"#, .tokenMalformed),
        .header(#"{"alg":"ES256","typ":"JWT",\#(kid)}"#, .tokenMalformed),
        .header(#"{"alg":"RS384","typ":"JWT",\#(kid)}"#, .tokenMalformed),
        .header(#"{"alg":"KMS","typ":"JWT"}"#, .tokenMalformed),
        .header(#"{"alg":"none","alg":"ES384","typ":"JWT",\#(kid)}"#, .tokenMalformed),
        .header(#"{"alg":"ES384","typ":"jwt",\#(kid)}"#, .tokenMalformed),
        .header(#"{"alg":"ES384",\#(kid)}"#, .tokenMalformed),
        .header(#"{"alg":"ES384","typ":"JWT"}"#, .tokenMalformed),
        .header(#"{"alg":"ES384","typ":"JWT",\#(kid),"crit":["exp"]}"#, .tokenMalformed),
        .header(#"{"alg":"ES384","typ":"JWT",\#(kid),"b64":false}"#, .tokenMalformed),
        .header(#"{"alg":"ES384","typ":"JWT","kid":"arn:aws:ivs:us-east-1:000000000000:public-key/other"}"#, .tokenRejected),
        .header(#"{"alg":"ES384","typ":"JWT","kid":"arn:aws:ivs:000000000000:us-east-1:public-key/imported"}"#, .tokenRejected),
        .header(#"{"alg":"ES384","typ":"JWT","kid":"ARN:aws:ivs:us-east-1:000000000000:public-key/imported"}"#, .tokenRejected),
        // Signatures and forms
        TokenCase("a signature of another key", .tokenRejected) { _ in
            let input = CompactToken.signingInput(keyID: TokenBench.imported, payload: TokenBench.claims)
            return CompactToken.serialized(signingInput: input, signature: try ES384PrivateKey.generate().sign(input))
        },
        TokenCase("the server's kid with a customer's signature", .tokenRejected) { bench in
            try bench.sign(TokenBench.claims, keyID: bench.authority.keyID)
        },
        TokenCase("a DER signature", .tokenMalformed) { bench in
            let input = CompactToken.signingInput(keyID: TokenBench.imported, payload: TokenBench.claims)
            let raw = try bench.key.sign(input)
            let der: [UInt8] = [0x30, 100, 0x02, 48] + raw.prefix(48) + [0x02, 48] + raw.suffix(48)
            return CompactToken.serialized(signingInput: input, signature: der)
        },
        TokenCase("a signature of zeros", .tokenRejected) { _ in
            let input = CompactToken.signingInput(keyID: TokenBench.imported, payload: TokenBench.claims)
            return CompactToken.serialized(signingInput: input, signature: [UInt8](repeating: 0, count: 96))
        },
        TokenCase("a signature of ones", .tokenRejected) { _ in
            let input = CompactToken.signingInput(keyID: TokenBench.imported, payload: TokenBench.claims)
            return CompactToken.serialized(signingInput: input, signature: [UInt8](repeating: 255, count: 96))
        },
        TokenCase("an empty signature", .tokenMalformed) { try Array($0.sign(TokenBench.claims).dropLast(128)) },
        TokenCase("a payload changed after signing", .tokenRejected) { bench in
            var claims = TokenBench.claims
            let signature = try bench.key.sign(CompactToken.signingInput(keyID: TokenBench.imported, payload: claims))
            claims["user_id"] = "mallory"
            let input = CompactToken.signingInput(keyID: TokenBench.imported, payload: claims)
            return CompactToken.serialized(signingInput: input, signature: signature)
        },
        TokenCase("nothing", .tokenMalformed) { _ in [] },
        TokenCase("two parts", .tokenMalformed) { _ in Array("e30.e30".utf8) },
        TokenCase("four parts", .tokenMalformed) { try $0.sign(TokenBench.claims) + Array(".e30".utf8) },
        TokenCase("padding", .tokenMalformed) { try $0.sign(TokenBench.claims) + Array("=".utf8) },
        TokenCase("white space", .tokenMalformed) { try $0.sign(TokenBench.claims) + Array("\n".utf8) },
        TokenCase("over four kilobytes", .tokenMalformed) { bench in
            var claims = TokenBench.claims
            claims["junk"] = .string(String(repeating: "x", count: 4_000))
            return try bench.sign(claims)
        },
        TokenCase("a repeated claim", .tokenMalformed) { bench in
            let text = JSONValue.object(TokenBench.claims).description
            return try bench.sign(
                header: #"{"alg":"ES384","typ":"JWT",\#(kid)}"#, payload: #"{"exp":9999999999,"# + text.dropFirst())
        },
        TokenCase("a payload that is no object", .tokenMalformed) { bench in
            try bench.sign(header: #"{"alg":"ES384","typ":"JWT",\#(kid)}"#, payload: "[1]")
        },
        // Times
        .claim("exp", 1_799_999_941, .tokenMalformed), .claim("exp", "1800043200", .tokenMalformed),
        .claim("exp", .number(1_800_043_200.5), .tokenMalformed), .claim("exp", nil, .tokenMalformed),
        .claim("exp", 1_801_209_600, nil), .claim("exp", 1_801_209_601, .tokenMalformed),
        .claim("iat", 1_800_000_060, nil), .claim("iat", 1_800_000_061, .tokenRejected), .claim("iat", nil, .tokenMalformed),
        .claim("nbf", 1_800_000_060, nil), .claim("nbf", 1_800_000_061, .tokenRejected), .claim("nbf", "x", .tokenMalformed),
        TokenCase("expired a minute ago", .tokenExpired) { try $0.sign(times: (1_799_990_000, 1_799_999_940)) },
        TokenCase("expired within the leeway", nil) { try $0.sign(times: (1_799_990_000, 1_799_999_941)) },
        // Who and where
        .claim("jti", "", .tokenMalformed), .claim("jti", "a.b", .tokenMalformed), .claim("jti", nil, .tokenMalformed),
        .claim("jti", .string(String(repeating: "a", count: 64)), nil),
        .claim("jti", .string(String(repeating: "a", count: 65)), .tokenMalformed),
        .claim("user_id", .string(String(repeating: "é", count: 128)), nil),
        .claim("user_id", .string(String(repeating: "é", count: 129)), .tokenMalformed), .claim("user_id", 5, .tokenMalformed),
        .claim("resource", nil, .tokenMalformed),
        .claim("resource", "arn:aws:ivs:us-east-1:000000000000:stage/xabc", .tokenMalformed),
        .claim("resource", "arn:aws:ivs:eu-west-1:000000000000:stage/abc", .stageDeleted),
        .claim("topic", "abd", .tokenMalformed), .claim("topic", nil, .tokenMalformed),
        .claim("events_url", "wss://elsewhere", .tokenRejected), .claim("whip_url", "https://elsewhere", .tokenRejected),
        .claim("whip_url", "https://w/whip/", nil), .claim("whip_url", nil, .tokenMalformed),
        // Rights and attributes
        .claim("capabilities", ["allow_publish": true], nil), .claim("capabilities", nil, .tokenMalformed),
        .claim("capabilities", ["allow_publish": 1], .tokenMalformed), .claim("capabilities", ["PUBLISH"], .tokenMalformed),
        .claim("attributes", ["имя": "значение", "emoji": "🎬"], nil), .claim("attributes", ["a": 1], .tokenMalformed),
        .claim("attributes", ["k": .string(String(repeating: "x", count: 1_023))], nil),
        .claim("attributes", ["k": .string(String(repeating: "x", count: 1_024))], .tokenMalformed),
        .claim("version", 1.0, .tokenMalformed), .claim("version", "2.0", .tokenMalformed),
        .claim("version", nil, .tokenMalformed), .claim("unknown", ["a": [1, 2]], nil),
    ]

extension TokenBench {
    func sign(times: (Int64, Int64)) throws -> [UInt8] {
        var claims = Self.claims
        (claims["iat"], claims["exp"]) = (.integer(times.0), .integer(times.1))
        return try sign(claims)
    }
}

@Suite("Participant tokens at the door")
struct TokenVerifierTests {
    private let bench: TokenBench

    init() throws { bench = try TokenBench() }

    /// As where a node finds only then that it cannot start: what its threads missed ended the process in place of words.
    @Test func `a verifier that is given up before its threads have begun harms nobody`() throws {
        for _ in 0..<8 { _ = try TokenVerifier(store: bench.store, authority: bench.authority, rules: bench.rules) }
    }

    @Test func `endpoints that another node of the platform has added are taken`() async throws {
        let bench = try TokenBench()
        var claims = TokenBench.claims
        claims["whip_url"] = "https://other/whip"
        let token = try bench.sign(claims)
        #expect((try? await bench.verify(token).get()) == nil)
        let other = StageEndpoints(events: "wss://e", whip: "https://other/whip/", rtmp: "", rtmps: "")
        try await bench.store.write { _ = EndpointHistory(other, in: &$0, now: TokenBench.now) }
        #expect((try? await bench.verify(token).get()) != nil)
    }

    /// 14 days for the token, and a day for the note.
    @Test func `an endpoint is good for 15 days after it was noted last, however long ago this process began`() async throws {
        let bench = try TokenBench()
        let day = Duration.seconds(86_400)
        let other = StageEndpoints(events: "wss://e", whip: "https://other/whip", rtmp: "", rtmps: "")
        try await bench.store.write { _ = EndpointHistory(other, in: &$0, now: TokenBench.now + day * -1) }
        let ours = try await bench.store.write { EndpointHistory(TokenBench.endpoints, in: &$0, now: TokenBench.now) }
        func accepts(after days: Int) -> Bool {
            ours.accepts(other.whip, at: (TokenBench.now + day * days).secondsSince1970, in: bench.store.state)
        }
        #expect(accepts(after: 13) && !accepts(after: 14))
        try await bench.store.write { _ = EndpointHistory(other, in: &$0, now: TokenBench.now + day * 12) }
        #expect(accepts(after: 26) && !accepts(after: 27))
    }

    @Test func `a lenient check takes any endpoints, and a strict one ends that for tokens found good before`() async throws {
        var claims = TokenBench.claims
        claims["whip_url"] = "https://global.whip.live-video.net"
        let token = try bench.sign(claims)
        var settings = TokenSettings()
        #expect((try? await bench.verify(token).get()) == nil)
        settings.endpointCheck = .lenient
        bench.verifier.apply(settings)
        #expect((try? await bench.verify(token).get()) != nil)
        settings.endpointCheck = .strict
        bench.verifier.apply(settings)
        #expect((try? await bench.verify(token).get()) == nil)
    }

    @Test(arguments: cases)
    private func `every token has its answer`(_ row: TokenCase) async throws {
        switch await bench.verify(try row.make(bench)) {
        case .success: #expect(row.expected == nil, "\(row.name)")
        case .failure(let refusal): #expect(refusal.code == row.expected, "\(row.name): \(refusal.text)")
        }
    }

    @Test
    func `a genuine token is verified once`() async throws {
        let token = try bench.sign(TokenBench.claims)
        for _ in 0..<3 { _ = try await bench.verify(token).get() }
        #expect(bench.verifier.verificationCount == 1)
    }

    @Test
    func `cheap faults cost no signature`() async throws {
        for row in cases where row.expected == .tokenMalformed || row.expected == .stageDeleted {
            _ = await bench.verify(try row.make(bench))
        }
        #expect(bench.verifier.verificationCount == 0)
    }

    @Test
    func `revocation, a deleted key and a deleted stage reach tokens that are cached`() async throws {
        let token = try bench.sign(TokenBench.claims)
        _ = try await bench.verify(token).get()
        let arn = TokenBench.stage.arn
        try await bench.store.write {
            $0.put(Revocation(stageARN: arn, participantID: "p_1-x", expiresAt: TokenBench.now + .seconds(60)))
        }
        #expect(await bench.verify(token).refusal?.code == .participantDisconnected)
        try await bench.store.write { $0.removeRevocation(participantID: "p_1-x", stageARN: arn) }
        _ = try await bench.verify(token).get()
        try await bench.store.write { $0.removePublicKey(TokenBench.imported) }
        #expect(await bench.verify(token).refusal?.code == .tokenRejected)
        try await bench.store.write { $0.removeStage(arn) }
        #expect(
            await bench.verify(try bench.sign(TokenBench.claims, keyID: bench.authority.keyID)).refusal?.code == .stageDeleted)
    }

    @Test
    func `a source that keeps failing is refused without work, others are not`() async throws {
        var limits = LimitSettings()
        limits.failuresPerMinute = 3
        let bench = try TokenBench(limits: limits)
        for _ in 0..<3 { #expect(await bench.verify(Array("x".utf8)).refusal?.code == .tokenMalformed) }
        #expect(await bench.verify(try bench.sign(TokenBench.claims)).refusal?.code == .tooManyFailures)
        _ = try await bench.verify(try bench.sign(TokenBench.claims), from: .v4(0x7F00_0002)).get()
    }

    @Test
    func `a token without publish is refused as a publisher, with an event`() async throws {
        var claims = TokenBench.claims
        claims["capabilities"] = ["allow_subscribe": true]
        let answer = await bench.authorize(try bench.sign(claims), reports: EmbeddedLeases(store: bench.store))
        #expect(throws: Refusal(.tokenCannotPublish)) { try answer.get() }
        let events = try await bench.store.read { try $0.events(after: 0, limit: 10) }
        #expect(events.map(\.name) == [.joinError, .publishError])
        #expect(events.allSatisfy { $0.errorCode == "INSUFFICIENT_CAPABILITIES" })
    }

    /// Of others nobody knows whose they are, or they have no stage; those that have expired are the client's to renew.
    @Test
    func `a token that is not good leaves no event`() async throws {
        let leases = EmbeddedLeases(store: bench.store)
        for row in cases where row.expected != nil {
            let answer = await bench.authorize(try row.make(bench), reports: leases)
            #expect(answer.refusal?.code == row.expected, "\(row.name)")
        }
        let events = try await bench.store.read { try $0.events(after: 0, limit: 10) }
        #expect(events.isEmpty)
    }

    @Test(
        arguments: [
            ("abc", true, nil), ("abd", true, .tokenOfOtherStage), ("abc", false, .tokenCannotSubscribe),
        ] as [(String, Bool, RefusalCode?)])
    func `watching takes the capability to subscribe, and the token's own stage`(
        _ stageID: String, _ allowsSubscribe: Bool, _ expected: RefusalCode?
    ) async throws {
        var claims = TokenBench.claims
        claims["capabilities"] = ["allow_publish": true, "allow_subscribe": .bool(allowsSubscribe)]
        let reports = RefusedViewers()
        let token = try bench.sign(claims)
        let answer = await bench.subscribe(token, to: stageID, watching: "alice", reports)
        #expect(answer.refusal?.code == expected)
        let told = expected == .tokenCannotSubscribe ? ["p_1-x player/1 alice token_cannot_subscribe"] : []
        #expect(reports.told.withLock { $0 } == told)
        _ = await bench.subscribe(token, to: stageID, reports)
        #expect(reports.told.withLock { $0 } == told, "a page watches nobody yet")
        guard expected == nil else { return }
        var grant = SubscribeGrant(
            participantID: "p_1-x", stageARN: TokenBench.stage.arn, stageID: "abc", publicKeyARN: TokenBench.imported)
        grant.userAgent = "player/1"
        #expect(try answer.get() == grant)
    }

    @Test(arguments: ["nothing", "participant", "key", "stage"])
    func `what lives by a token ends when it is taken away, and not before`(_ lost: String) async throws {
        let viewer = try await bench.subscribe(try bench.sign(TokenBench.claims), to: "abc").get().bearer
        let standing: any TokenStanding = bench.verifier
        #expect(standing.refusal(of: viewer) == nil)
        try await bench.store.write { transaction in
            switch lost {
            case "participant":
                transaction.put(
                    Revocation(stageARN: TokenBench.stage.arn, participantID: "p_1-x", expiresAt: TokenBench.now + .seconds(60)))
            case "key": transaction.removePublicKey(TokenBench.imported)
            case "stage": transaction.removeStage(TokenBench.stage.arn)
            default: break
            }
        }
        let expected: [String: RefusalCode] = [
            "participant": .participantDisconnected, "key": .tokenRejected, "stage": .stageDeleted,
        ]
        #expect(standing.refusal(of: viewer)?.code == expected[lost])
    }

    @Test
    func `an expired or revoked token watches nothing`() async throws {
        let expired = await bench.subscribe(try bench.sign(times: (1_799_990_000, 1_799_999_940)), to: "abc")
        #expect(expired.refusal?.code == .tokenExpired)
        let token = try bench.sign(TokenBench.claims)
        _ = try await bench.subscribe(token, to: "abc").get()
        try await bench.store.write {
            $0.put(Revocation(stageARN: TokenBench.stage.arn, participantID: "p_1-x", expiresAt: TokenBench.now + .seconds(60)))
        }
        #expect(await bench.subscribe(token, to: "abc").refusal?.code == .participantDisconnected)
    }
}

extension TokenBench {
    fileprivate func authorize(_ token: [UInt8], reports: EmbeddedLeases) async -> Result<PublishGrant, Refusal> {
        let request = PublishRequest(
            credential: .token(Secret(token)), ingestProtocol: .whip, source: SocketAddress(.loopback, port: 1), userAgent: "")
        let authorize = verifier.authorizer(reports: reports)
        return await withCheckedContinuation { continuation in
            authorize(Secret(token), request) { continuation.resume(returning: $0) }
        }
    }

    fileprivate func subscribe(
        _ token: [UInt8], to stageID: String, watching participantID: String? = nil, _ reports: RefusedViewers = RefusedViewers()
    ) async -> Result<SubscribeGrant, Refusal> {
        let request = SubscribeRequest(
            token: Secret(token), stageID: stageID, participantID: participantID, source: SocketAddress(.loopback, port: 1),
            userAgent: "player/1")
        return await withCheckedContinuation { continuation in
            ViewerAuthorizer(tokens: verifier, reports: reports).authorizeSubscribe(request) {
                continuation.resume(returning: $0)
            }
        }
    }
}

private final class RefusedViewers: ViewerReports {
    let told = Lock<[String]>([])

    func watchStarted(_ watching: Watching) {}
    func watchStopped(_ watching: Watching) {}

    func watchRefused(_ watching: Watching, _ refusal: Refusal) {
        let grant = watching.grant
        told.withLock { $0.append("\(grant.participantID) \(grant.userAgent) \(watching.participantID) \(refusal.code.name)") }
    }
}

extension Result where Failure == Refusal {
    fileprivate var refusal: Refusal? { if case .failure(let refusal) = self { refusal } else { nil } }
}

/// What the verifier costs beside the one P-384 operation that it cannot do without.
@Suite struct TokenRateTests {
    @Test
    func `a known token makes no P-384 operation`() async throws {
        let bench = try TokenBench()
        let token = try bench.sign(TokenBench.claims)
        for _ in 0..<100 { _ = try await bench.verify(token).get() }
        #expect(bench.verifier.verificationCount == 1)
        for number in 0..<10 {
            var claims = TokenBench.claims
            claims["jti"] = .string("p-\(number)")
            _ = try await bench.verify(try bench.sign(claims)).get()
        }
        #expect(bench.verifier.verificationCount == 11)
    }
}
