import Admission
import EventLoop
import HTTPClient
import JSON
import Refusals
import Settings
import Signatures
import Testing
import Wire

@testable import ControlPlane

/// Grants everything at once. A key's hash is the key from behind.
private struct Everybody: Authorizer {
    func authorize(_ request: PublishRequest, reply: @escaping @Sendable (Result<PublishGrant, Refusal>) -> Void) {
        guard case .streamKey(let key) = request.credential else { return reply(.failure(Refusal(.tokenMalformed))) }
        let hash = String(decoding: key.reveal().reversed(), as: UTF8.self)
        reply(
            .success(
                PublishGrant(
                    participantID: "p", stageARN: "arn/s", stageID: "s", userID: "u", attributes: ["b": "2", "a": "1"],
                    ingestConfigurationARN: "arn/i", credentialHash: hash)))
    }
}

@Suite("Authorize hook")
struct AuthorizeHookTests {
    private let settings = {
        var settings = AuthorizeSettings()
        settings.url = "http://x"
        return settings
    }()

    private func answer(
        _ loop: EventLoop, _ authorizer: HookedAuthorizer, key: String = "k", over ingest: IngestProtocol = .rtmps
    ) -> Result<PublishGrant, Refusal>? {
        let answer = Lock<Result<PublishGrant, Refusal>?>(nil)
        let request = PublishRequest(
            credential: .streamKey(Secret(key)), ingestProtocol: ingest, source: SocketAddress(.loopback, port: 1),
            userAgent: "OBS")
        authorizer.authorize(request) { new in answer.withLock { $0 = new } }
        _ = loop.run(until: { answer.withLock { $0 != nil } }, within: .seconds(120))
        return answer.withLock { $0 }
    }

    /// The refusal's code, nil for a grant.
    private func code(_ answer: Result<PublishGrant, Refusal>?) throws -> RefusalCode? {
        guard case .failure(let refusal) = try #require(answer) else { return nil }
        return refusal.code
    }

    static let answers: [(Int?, String, RefusalCode?)] = [
        (200, "", nil), (204, "", nil), (200, #"{"allow":true}"#, nil), (200, #"{"allow":false}"#, .refusedByAuthority),
        (403, #"{"message":"not today"}"#, .refusedByAuthority), (401, "", .refusedByAuthority),
        (404, "", .refusedByAuthority), (500, "", .authorityUnavailable), (302, "", .authorityUnavailable),
        (nil, "", .authorityUnavailable),
    ]

    private static func result(_ status: Int?, _ body: String = "") -> Result<AuthorizeHook.Answer, HTTPClientError> {
        status.map { .success(AuthorizeHook.Answer(status: $0, body: Array(body.utf8))) } ?? .failure(.timedOut)
    }

    @Test(arguments: [(500, "it answered 500"), (nil, "no whole answer in time"), (204, nil)] as [(Int?, String?)])
    func `whoever runs the gateway is told why nothing is decided`(_ status: Int?, _ words: String?) throws {
        let loop = try EventLoop()
        let authorizer = HookedAuthorizer(behind: Everybody())
        var told: [String] = []
        let hook = try AuthorizeHook(
            loop: loop, settings: settings, failed: { told.append($0) }, answering: authorizer
        ) { _, done in
            done(Self.result(status))
        }
        _ = answer(loop, authorizer)
        #expect(told == [words].compactMap { $0 })
        withExtendedLifetime(hook) {}
    }

    @Test(arguments: answers)
    func `each answer has its meaning`(_ status: Int?, _ body: String, _ code: RefusalCode?) throws {
        let loop = try EventLoop()
        let authorizer = HookedAuthorizer(behind: Everybody())
        let hook = try AuthorizeHook(loop: loop, settings: settings, answering: authorizer) { _, done in
            done(Self.result(status, body))
        }
        switch try #require(answer(loop, authorizer)) {
        case .success: #expect(code == nil)
        case .failure(let refusal):
            #expect(refusal.code == code)
            if body.contains("not today") { #expect(refusal.sentence == "not today") }
        }
        withExtendedLifetime(hook) {}
    }

    @Test(arguments: answers)
    func `where encoders come in without an answer, a refusal keeps them out`(
        _ status: Int?, _ body: String, _ code: RefusalCode?
    ) throws {
        let loop = try EventLoop()
        let authorizer = HookedAuthorizer(behind: Everybody())
        var settings = settings
        settings.onFailure = .allow
        let hook = try AuthorizeHook(loop: loop, settings: settings, answering: authorizer) { _, done in
            done(Self.result(status, body))
        }
        let heard = try self.code(answer(loop, authorizer))
        #expect(heard == (code == .authorityUnavailable ? nil : code))
        withExtendedLifetime(hook) {}
    }

    @Test(arguments: AuthorizeSettings.Fallback.allCases)
    func `a service that keeps failing is left alone for a while`(_ fallback: AuthorizeSettings.Fallback) throws {
        let loop = try EventLoop()
        let authorizer = HookedAuthorizer(behind: Everybody())
        var settings = settings
        settings.onFailure = fallback
        var asked = 0
        let hook = try AuthorizeHook(loop: loop, settings: settings, answering: authorizer) { _, done in
            asked += 1
            done(.failure(.timedOut))
        }
        let expected: RefusalCode? = fallback == .allow ? nil : .authorityUnavailable
        for _ in 0..<20 {
            let heard = try code(answer(loop, authorizer))
            #expect(heard == expected)
        }
        #expect(asked == CircuitBreaker.threshold)
        withExtendedLifetime(hook) {}
    }

    /// As when all encoders of a node come back at once: that the service cannot be asked about all of them is not its failure.
    @Test
    func `more questions than are asked at once wait their turn`() throws {
        let loop = try EventLoop()
        var settings = settings
        settings.timeout = .seconds(60)
        let authorizer = HookedAuthorizer(behind: Everybody())
        var open: [(Result<AuthorizeHook.Answer, HTTPClientError>) -> Void] = []
        let hook = try AuthorizeHook(loop: loop, settings: settings, answering: authorizer) { _, done in open.append(done) }
        let request = PublishRequest(
            credential: .streamKey(Secret("k")), ingestProtocol: .rtmps, source: SocketAddress(.loopback, port: 1), userAgent: "")
        let (count, granted) = (AuthorizeHook.maximumAsked + 10, Lock(0))
        for _ in 0..<count {
            authorizer.authorize(request) { result in
                if case .success = result { granted.withLock { $0 += 1 } }
            }
        }
        #expect(loop.run(until: { open.count >= AuthorizeHook.maximumAsked }, within: .seconds(120)))
        var most = 0
        let areAllGranted = loop.run(
            until: {
                while let done = open.popLast() {
                    most = max(most, open.count + 1)
                    done(Self.result(204))
                }
                return granted.withLock { $0 } == count
            }, within: .seconds(60))
        #expect(areAllGranted)
        #expect(most == AuthorizeHook.maximumAsked)
        withExtendedLifetime(hook) {}
    }

    /// Else a slow service is asked about those alone that have given up, and nobody comes in any more.
    @Test
    func `who waits for longer than encoders do is not asked about`() throws {
        let loop = try EventLoop()
        let authorizer = HookedAuthorizer(behind: Everybody())
        var settings = settings
        settings.timeout = .milliseconds(20)
        var open: [(Result<AuthorizeHook.Answer, HTTPClientError>) -> Void] = []
        let hook = try AuthorizeHook(loop: loop, settings: settings, answering: authorizer) { _, done in open.append(done) }
        let request = PublishRequest(
            credential: .streamKey(Secret("k")), ingestProtocol: .rtmps, source: SocketAddress(.loopback, port: 1), userAgent: "")
        let refusals = Lock<[RefusalCode]>([])
        for _ in 0...AuthorizeHook.maximumAsked {
            authorizer.authorize(request) { result in
                if case .failure(let refusal) = result { refusals.withLock { $0.append(refusal.code) } }
            }
        }
        #expect(loop.run(until: { open.count == AuthorizeHook.maximumAsked }, within: .seconds(120)))
        _ = loop.run(until: { false }, within: .milliseconds(100))
        open.removeFirst()(Self.result(204))
        #expect(refusals.withLock { $0 } == [.overloaded])
        #expect(open.count == AuthorizeHook.maximumAsked - 1)
        withExtendedLifetime(hook) {}
    }

    @Test
    func `a verdict is kept as long as it may`() throws {
        let loop = try EventLoop()
        let authorizer = HookedAuthorizer(behind: Everybody())
        var asked = 0
        var settings = settings
        settings.cache = .seconds(60)
        let hook = try AuthorizeHook(loop: loop, settings: settings, answering: authorizer) { _, done in
            asked += 1
            done(Self.result(204))
        }
        for _ in 0..<3 { _ = try #require(answer(loop, authorizer)).get() }
        #expect(asked == 1)
        withExtendedLifetime(hook) {}
    }

    /// Else one encoder comes in by the yes that another one got, or none does for as long as a failure is kept.
    @Test
    func `a verdict is its credential's and protocol's alone, and a failure is none`() throws {
        let loop = try EventLoop()
        let authorizer = HookedAuthorizer(behind: Everybody())
        var settings = settings
        settings.cache = .seconds(3_600)
        let statuses = [500, 403, 204, 204]
        var asked = 0
        let hook = try AuthorizeHook(loop: loop, settings: settings, answering: authorizer) { _, done in
            defer { asked += 1 }
            done(Self.result(statuses.indices.contains(asked) ? statuses[asked] : nil))
        }
        let story: [(key: String, ingest: IngestProtocol, code: RefusalCode?)] = [
            ("a", .rtmps, .authorityUnavailable), ("a", .rtmps, .refusedByAuthority), ("a", .rtmps, .refusedByAuthority),
            ("b", .rtmps, nil), ("a", .rtmp, nil), ("b", .rtmps, nil), ("a", .rtmps, .refusedByAuthority),
        ]
        for (number, step) in story.enumerated() {
            let heard = try code(answer(loop, authorizer, key: step.key, over: step.ingest))
            #expect(heard == step.code, "step \(number)")
        }
        #expect(asked == statuses.count)
        withExtendedLifetime(hook) {}
    }

    @Test
    func `the service is told who wants to publish where, signed, and never the key`() throws {
        let loop = try EventLoop()
        let authorizer = HookedAuthorizer(behind: Everybody())
        var settings = settings
        (settings.secret, settings.timeout) = (Secret("of the hook"), .seconds(7))
        var questions: [HTTPClientRequest] = []
        let hook = try AuthorizeHook(loop: loop, settings: settings, answering: authorizer) { question, done in
            questions.append(question)
            done(Self.result(204))
        }
        _ = try #require(answer(loop, authorizer, key: "live_key")).get()
        let question = try #require(questions.first)
        #expect(question.method == "POST" && question.url == "http://x" && question.deadline == .seconds(7))
        let expected: JSONValue = [
            "stageArn": "arn/s", "participantId": "p", "userId": "u", "attributes": ["a": "1", "b": "2"], "protocol": "RTMPS",
            "ingestConfigurationArn": "arn/i", "source": "127.0.0.1:1", "userAgent": "OBS", "credentialHash": "yek_evil",
        ]
        #expect(try JSONValue(parsing: question.body) == expected)
        let signature = try #require(question.headers.first { $0.name == "Stagedoor-Signature" }).value
        let seconds = try #require(Int64(signature.dropFirst(2).prefix { $0 != "," }))
        let again = WebhookSignature.headers(of: question.body, at: seconds, secret: settings.secret)
        #expect(again.contains { $0.value == signature })
        #expect(abs(seconds - EventLoop.wallNow().secondsSince1970) < 300, "receivers refuse what is older")
        withExtendedLifetime(hook) {}
    }

    @Test
    func `an open circuit tries again with one request`() {
        var breaker = CircuitBreaker()
        for _ in 0..<CircuitBreaker.threshold { breaker.failed(at: .zero) }
        let admitted = [4, 5, 6].map { second in breaker.admits(at: .zero + .seconds(second)) }
        #expect(admitted == [false, true, false])
        breaker.succeeded()
        let isClosed = breaker.admits(at: .zero + .seconds(6))
        #expect(isClosed)
    }
}
