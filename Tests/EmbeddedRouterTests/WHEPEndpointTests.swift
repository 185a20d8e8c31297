import Admission
import EventLoop
import Refusals
import TestSupport
import Testing
import WebRTCTransport

@testable import EmbeddedRouter

@Suite("WHEP resources (draft-ietf-wish-whep)", .timeLimit(.minutes(10)))
struct WHEPEndpointTests {
    private static let participant = "/whep/s/nobody"
    private let site: WHEPSite

    init() throws { site = try WHEPSite() }

    private var session: String { "/whep/sessions/\(site.entry.transport.id)" }

    private func answer(_ line: String, body: String = "", token: String? = "good", fields: String = "") throws -> String {
        let client = try site.ask(line, body: body, token: token, fields: fields)
        try #require(site.wait { client.isClosed })
        return client.text
    }

    @Test(arguments: ["GET", "HEAD"])
    func `players tell it from other URLs by the type that it takes`(_ method: String) throws {
        let text = try answer("\(method) \(Self.participant)", token: nil)
        #expect(text.hasPrefix("HTTP/1.1 200 ") && text.contains("Content-Type: application/sdp\r\n"))
        #expect(text.contains("Content-Length: 0\r\n") && text.hasSuffix("\r\n\r\n"))
    }

    @Test func `who is not live may be asked for again`() throws {
        let offer = String(decoding: OfferFixture.named("aiortc-1.16.0").body, as: UTF8.self)
            .replacing("a=sendonly", with: "a=recvonly")
        let text = try answer("POST \(Self.participant)", body: offer, fields: "Content-Type: application/sdp\r\n")
        #expect(text.hasPrefix("HTTP/1.1 409 SD-1140: ") && text.contains("Retry-After: 2\r\n"))
    }

    @Test func `a token that may not subscribe is refused, by who knows whom it would watch`() throws {
        let authorizer = Refuser()
        let site = try WHEPSite(authorizer: authorizer)
        let fields = "Content-Type: application/sdp\r\nUser-Agent: player/1\r\n"
        let client = try site.ask("POST \(Self.participant)", body: "v=0\r\n", fields: fields)
        try #require(site.wait { client.isClosed })
        #expect(client.text.hasPrefix("HTTP/1.1 403 SD-1016: "))
        #expect(authorizer.asked.withLock { $0 } == ["player/1 s nobody"])
    }

    @Test(arguments: ["s/a%0Ab", "s/%3Cb%3E", "s/%E2%84%AA", "%E2%84%AA/nobody"])
    func `what can be no participant's id is not served, and in no history`(_ path: String) throws {
        let authorizer = Refuser()
        let site = try WHEPSite(authorizer: authorizer)
        let client = try site.ask("POST /whep/\(path)", body: "v=0\r\n", fields: "Content-Type: application/sdp\r\n")
        try #require(site.wait { client.isClosed })
        #expect(client.text.hasPrefix("HTTP/1.1 404 "))
        #expect(authorizer.asked.withLock { $0 }.isEmpty)
    }

    @Test func `a body of another type is told which one is taken`() throws {
        let post = try answer("POST \(Self.participant)", body: "v=0\r\n", fields: "Content-Type: text/plain\r\n")
        #expect(post.hasPrefix("HTTP/1.1 415 ") && post.contains("Accept-Post: application/sdp\r\n"))
        let patch = try answer("PATCH \(session)", body: "a=end-of-candidates\r\n", fields: "Content-Type: text/plain\r\n")
        #expect(patch.hasPrefix("HTTP/1.1 415 ") && patch.contains("Accept-Patch: application/trickle-ice-sdpfrag\r\n"))
    }

    @Test func `any page may ask, and a preflight needs no token`() throws {
        let fields = "Origin: https://example.com\r\nAccess-Control-Request-Method: POST\r\n"
        let text = try answer("OPTIONS \(Self.participant)", token: nil, fields: fields)
        #expect(text.hasPrefix("HTTP/1.1 200 ") && text.contains("Accept-Post: application/sdp\r\n"))
        #expect(text.contains("Access-Control-Allow-Origin: *\r\n"))
        #expect(text.contains("Access-Control-Allow-Headers: Authorization, Content-Type, If-Match, Link\r\n"))
    }

    @Test(arguments: [
        ("PUT \(participant)", "OPTIONS, GET, HEAD, POST"), ("DELETE \(participant)", "OPTIONS, GET, HEAD, POST"),
        ("POST /whep/sessions/x", "OPTIONS, GET, HEAD, PATCH, DELETE"),
    ])
    func `another method is 405 with Allow`(_ line: String, _ allowed: String) throws {
        let text = try answer(line)
        #expect(text.hasPrefix("HTTP/1.1 405 ") && text.contains("Allow: \(allowed)\r\n"))
    }

    @Test func `a session trickles, ends by DELETE, and is of its own token alone`() throws {
        let fields = "Content-Type: application/trickle-ice-sdpfrag\r\n"
        func patch(_ token: String?) throws -> String {
            try answer("PATCH \(session)", body: "a=end-of-candidates\r\n", token: token, fields: fields)
        }
        #expect(try patch(nil).hasPrefix("HTTP/1.1 401 "))
        let json = try answer("PATCH \(session)", body: #"{"candidate":"","sdpMid":"0"}"#, token: nil, fields: fields)
        #expect(json.hasPrefix("HTTP/1.1 400 SD-1127: "), "which react-native-whip-whep survives")
        #expect(try patch("bad").hasPrefix("HTTP/1.1 403 "))
        let trickle = try patch("good")
        #expect(trickle.hasPrefix("HTTP/1.1 204 ") && !trickle.contains("ETag:"))
        #expect(try answer("DELETE \(session)", token: "bad").hasPrefix("HTTP/1.1 403 "))
        #expect(try answer("DELETE \(session)", fields: "If-Match: \"stale\"\r\n").hasPrefix("HTTP/1.1 200 "))
        #expect(try patch("good").hasPrefix("HTTP/1.1 404 "))
    }
}

/// Finds that every token lacks the capability.
private final class Refuser: SubscribeAuthorizer {
    let asked = Lock<[String]>([])

    func authorizeSubscribe(
        _ request: SubscribeRequest, reply: @escaping @Sendable (Result<SubscribeGrant, Refusal>) -> Void
    ) {
        asked.withLock { $0.append("\(request.userAgent) \(request.stageID) \(request.participantID ?? "-")") }
        reply(.failure(Refusal(.tokenCannotSubscribe)))
    }
}
