import Admission
import EventLoop
import Foundation
import HTTP
import HTTPServer
import Refusals
import Sockets
import StageHub
import TestSupport
import Testing
import Wire

@testable import EmbeddedRouter

/// Knows one token, of one stage, until it is revoked.
private final class OneToken: SubscribeAuthorizer {
    private let isRevoked = Lock(false)

    func revoke() { isRevoked.withLock { $0 = true } }

    func authorizeSubscribe(
        _ request: SubscribeRequest, reply: @escaping @Sendable (Result<SubscribeGrant, Refusal>) -> Void
    ) {
        guard request.token.revealText() == "good", request.stageID == "s" else {
            return reply(.failure(Refusal(.tokenRejected)))
        }
        if isRevoked.withLock({ $0 }) { return reply(.failure(Refusal(.tokenExpired))) }
        reply(.success(SubscribeGrant(participantID: "viewer", stageARN: "arn/s", stageID: "s")))
    }
}

/// The endpoint behind a real server, and clients, on one loop.
private final class Site {
    let loop: EventLoop
    let board = StageBoard()
    let viewers = ViewerRegistry(of: .pages, .init(total: 20, perStage: 20, perAddress: 20, perToken: 4))
    let authorizer = OneToken()
    let endpoint: WatchEndpoint
    private let server: HTTPServer
    private let address: SocketAddress

    init() throws {
        loop = try EventLoop()
        let endpoint = try WatchEndpoint(loop: loop, board: board, viewers: viewers, authorizer: authorizer)
        self.endpoint = endpoint
        let configuration = HTTPServerConfiguration(
            requestTimeout: .seconds(10), idleTimeout: .seconds(60), maximumBodyLength: 64 << 10,
            maximumConnections: 100, maximumConnectionsPerAddress: 100)
        server = HTTPServer(loop: loop, configuration: configuration) { request, exchange in
            if !endpoint.handle(request, exchange) { exchange.respond(HTTPResponse(.notFound)) }
        }
        address = try server.listen(on: SocketAddress(.loopback, port: 0))
    }

    deinit { loop.letGo() }

    func ask(_ line: String, token: String? = nil) throws -> HTTPTestClient {
        try HTTPTestClient(loop: loop, to: address, line, token: token)
    }

    func wait(until isDone: () -> Bool) -> Bool { loop.run(until: isDone, within: .seconds(60)) }
}

/// One request, and what comes of it until the connection closes.
final class HTTPTestClient {
    private let stream: TCPStream
    private(set) var text = ""
    private(set) var isClosed = false

    /// - Parameter fields: further header lines, each with its end.
    init(
        loop: EventLoop, to address: SocketAddress, _ line: String, token: String? = nil, fields: String = "", body: String = ""
    ) throws {
        stream = try TCPStream(loop: loop, connectingTo: address)
        let authorization = token.map { "Authorization: Bearer \($0)\r\n" } ?? ""
        let length = body.isEmpty ? "" : "Content-Length: \(body.utf8.count)\r\n"
        stream.onBytes = { [unowned self] bytes in
            text += String(decoding: bytes, as: UTF8.self)
            return bytes.count
        }
        stream.onClosed = { [unowned self] _ in isClosed = true }
        stream.write(
            Array("\(line) HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\(authorization)\(fields)\(length)\r\n\(body)".utf8))
    }

    func close() { stream.close() }
}

@Suite("Watch endpoint", .timeLimit(.minutes(10)))
struct WatchEndpointTests {
    private let site: Site

    init() throws { site = try Site() }

    private func answer(_ line: String, token: String? = nil) throws -> String {
        let client = try site.ask(line, token: token)
        try #require(site.wait { client.isClosed })
        return client.text
    }

    @Test(arguments: [
        ("GET /watch/s", "text/html"), ("GET /watch/assets/watch.js", "text/javascript"),
        ("GET /watch/assets/viewer.js", "text/javascript"), ("GET /watch/assets/watch.css", "text/css"),
    ])
    func `serves the page and its files to everybody`(_ line: String, _ type: String) throws {
        let answer = try answer(line)
        #expect(answer.hasPrefix("HTTP/1.1 200 ") && answer.contains("Content-Type: \(type)"))
    }

    @Test func `the page loads nothing from elsewhere and nothing inline`() throws {
        let answer = try answer("GET /watch/s")
        #expect(answer.contains("default-src 'none'") && !answer.contains("unsafe"))
        #expect(!answer.contains("http://") && !answer.contains("https://") && !answer.contains("style="))
    }

    /// Chromium and Safari play Opus in one channel otherwise (RFC 7587 §6.1).
    @Test func `the page's offer asks for sound in two channels`() throws {
        let answer = try answer("GET /watch/assets/viewer.js")
        #expect(answer.contains(";stereo=1"))
    }

    /// A proxy may have put a path before ours.
    @Test(arguments: ["GET /watch/s", "GET /watch/assets/watch.js", "GET /watch/assets/viewer.js"])
    func `the page asks for nothing by a path from the root`(_ line: String) throws {
        let answer = try answer(line)
        #expect(!answer.contains(/["'`]\/(watch|whep)/))
    }

    @Test func `the page gives up streams that stay silent longer than two of the clock's events could`() throws {
        let script = try answer("GET /watch/assets/watch.js")
        let longest = try #require(script.firstMatch(of: /const LONGEST_SILENCE = ([0-9]+);/)).output.1
        let milliseconds = try #require(Int(longest))
        #expect(Duration.milliseconds(milliseconds) > WatchEndpoint.clockInterval * 2)
        #expect(script.contains("stop.abort(), LONGEST_SILENCE"))
    }

    @Test(arguments: [
        ("GET /watch", 404), ("GET /watch/", 404), ("GET /watch/s/other", 404), ("GET /watch/assets/other.js", 404),
        ("GET /watch/s/events/more", 404), ("GET /elsewhere", 404), ("POST /watch/s", 405), ("DELETE /watch/s/events", 405),
        ("OPTIONS /watch/s/events", 204), ("GET /watch/s/events", 401),
    ])
    func `answers`(_ line: String, _ status: Int) throws {
        #expect(try answer(line).hasPrefix("HTTP/1.1 \(status) "))
    }

    @Test func `who is live is told to good tokens alone`() throws {
        site.board.attach(StageBoardTests.publication("p"))
        for (path, token) in [("s", "bad"), ("t", "good")] {
            let answer = try answer("GET /watch/\(path)/events", token: token)
            #expect(answer.hasPrefix("HTTP/1.1 401 ") && answer.contains("SD-1011") && !answer.contains("user of"))
        }
        #expect(site.board.watcherCount == 0)
    }

    @Test func `a stream welcomes, and tells who is there, comes and goes`() throws {
        let publication = StageBoardTests.publication("p")
        site.board.attach(publication)
        let client = try site.ask("GET /watch/s/events", token: "good")
        #expect(site.wait { client.text.contains(#""participantId":"p""#) })
        #expect(client.text.contains("text/event-stream"))
        let welcome = try #require(client.text.range(of: "event: welcome"))
        let present = try #require(client.text.range(of: "event: present"))
        #expect(welcome.lowerBound < present.lowerBound)
        #expect(client.text.contains(#""userId":"user of p","attributes":{"role":"host"},"protocol":"WHIP""#))
        publication.end(.closed)
        #expect(site.wait { client.text.contains("event: left") })
        client.close()
        #expect(site.wait { site.board.watcherCount == 0 })
    }

    @Test func `a token that is revoked ends its stream with the reason`() throws {
        let client = try site.ask("GET /watch/s/events", token: "good")
        #expect(site.wait { site.board.watcherCount == 1 })
        site.endpoint.authorizeAgain()
        #expect(!site.loop.run(until: { client.isClosed }, within: .milliseconds(50)))
        site.authorizer.revoke()
        site.endpoint.authorizeAgain()
        #expect(site.wait { client.isClosed })
        #expect(client.text.contains("event: refused") && client.text.contains("SD-1010"))
        #expect(site.board.watcherCount == 0)
    }

    @Test func `a token that is taken away ends its stream at once, without being asked again`() throws {
        let client = try site.ask("GET /watch/s/events", token: "good")
        #expect(site.wait { site.board.watcherCount == 1 })
        #expect(site.viewers.bearers.map(\.participantID) == ["viewer"])
        site.viewers.end(refusedBy: ViewerBookTests.Judge(refused: ["viewer"]))
        #expect(site.wait { client.isClosed })
        #expect(client.text.contains("event: refused") && client.text.contains("SD-1007"))
        #expect(site.board.watcherCount == 0 && site.viewers.count == 0)
    }

    @Test func `a token's newest pages displace its oldest`() throws {
        let clients = try (0..<6).map { number in
            let client = try site.ask("GET /watch/s/events", token: "good")
            #expect(site.wait { client.text.contains("event: welcome") })
            return client
        }
        #expect(site.wait { clients[0].isClosed && clients[1].isClosed })
        #expect(clients[0].text.contains("event: refused") && clients[0].text.contains("A newer watch page has"))
        #expect(clients[2...].allSatisfy { !$0.isClosed } && site.board.watcherCount == 4 && site.viewers.count == 4)
    }

    @Test func `stopping ends every stream in order`() throws {
        let clients = try (0..<3).map { _ in try site.ask("GET /watch/s/events", token: "good") }
        #expect(site.wait { site.board.watcherCount == 3 })
        site.endpoint.stop()
        #expect(site.wait { clients.allSatisfy(\.isClosed) })
        #expect(clients.allSatisfy { $0.text.hasSuffix("0\r\n\r\n") } && site.board.watcherCount == 0)
    }
}
