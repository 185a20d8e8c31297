import Admission
import EventLoop
import HTTPClient
import Refusals
import Settings
import Testing
import Wire

@testable import ControlPlane

/// Grants everything at once.
private struct Everybody: Authorizer {
    func authorize(_ request: PublishRequest, reply: @escaping @Sendable (Result<PublishGrant, Refusal>) -> Void) {
        reply(.success(PublishGrant(participantID: "p", stageARN: "arn/s", stageID: "s", credentialHash: "h")))
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
        _ loop: EventLoop, _ authorizer: HookedAuthorizer
    ) -> Result<PublishGrant, Refusal>? {
        let answer = Lock<Result<PublishGrant, Refusal>?>(nil)
        let request = PublishRequest(
            credential: .streamKey(Secret("k")), ingestProtocol: .rtmps, source: SocketAddress(.loopback, port: 1), userAgent: "")
        authorizer.authorize(request) { new in answer.withLock { $0 = new } }
        _ = loop.run(until: { answer.withLock { $0 != nil } }, within: .seconds(120))
        return answer.withLock { $0 }
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

    @Test
    func `a service that keeps failing is left alone for a while`() throws {
        let loop = try EventLoop()
        let authorizer = HookedAuthorizer(behind: Everybody())
        var asked = 0
        let hook = try AuthorizeHook(loop: loop, settings: settings, answering: authorizer) { _, done in
            asked += 1
            done(.failure(.timedOut))
        }
        for _ in 0..<20 { _ = answer(loop, authorizer) }
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
