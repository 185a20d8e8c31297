import EventLoop
import Foundation
import HTTP
import HTTPClient
import HTTPServer
import OpenSSL
import Sockets
import TestSupport
import Testing
import Wire

@Suite("HTTP client", .timeLimit(.minutes(10)))
struct HTTPClientTests {
    /// A server of ours on the client's own loop.
    final class Bench {
        let loop: EventLoop
        let client: HTTPClient
        let server: HTTPServer
        let address: SocketAddress
        var requests: [HTTPRequest] = []
        var kept: [HTTPExchange] = []

        init(tls: TLSContext? = nil) throws {
            loop = try EventLoop()
            client = HTTPClient(loop: loop)
            let seen = Seen()
            let configuration = HTTPServerConfiguration(
                requestTimeout: .seconds(60), idleTimeout: .seconds(60), maximumBodyLength: 64 << 10,
                maximumConnections: 1_000, maximumConnectionsPerAddress: 1_000)
            server = HTTPServer(loop: loop, configuration: configuration) { request, exchange in
                seen.requests.append(request)
                switch request.path {
                case "/silent": seen.kept.append(exchange)
                case "/moved": exchange.respond(HTTPResponse(302, headers: ["Location": "http://127.0.0.1:1/elsewhere"]))
                case "/long": exchange.respond(HTTPResponse(.ok, body: [UInt8](repeating: 65, count: 300_000)))
                default: exchange.respond(HTTPResponse(.ok, headers: ["X-Echo": request.method.rawValue], body: request.body))
                }
            }
            address = try server.listen(on: SocketAddress(.loopback, port: 0), tls: tls)
            self.seen = seen
        }

        final class Seen {
            var requests: [HTTPRequest] = []
            var kept: [HTTPExchange] = []
        }

        let seen: Seen

        func send(_ request: HTTPClientRequest) -> Result<HTTPClientResponse, HTTPClientError>? {
            var answer: Result<HTTPClientResponse, HTTPClientError>?
            client.send(request) { answer = $0 }
            _ = loop.run(until: { answer != nil }, within: .seconds(60))
            return answer
        }

        func request(_ path: String, _ method: String = "GET", body: String = "") -> HTTPClientRequest {
            HTTPClientRequest(method: method, url: "http://\(address)\(path)", body: Array(body.utf8))
        }
    }

    @Test(arguments: [1, 2, 20])
    func `a client that goes takes along what is under way`(_ count: Int) throws {
        let bench = try Bench()
        var answers = 0
        for isSent in [false, true] {
            var client: HTTPClient? = HTTPClient(loop: bench.loop)
            for number in 0..<count {
                var request = bench.request("/silent")
                request.deadline = .seconds(20 + number)
                client?.send(request) { _ in answers += 1 }
            }
            if isSent { #expect(bench.loop.run(until: { bench.seen.kept.count == count }, within: .seconds(120))) }
            client = nil
        }
        #expect(answers == 0)
    }

    @Test(arguments: ["GET", "POST", "PUT", "PATCH", "DELETE"])
    func `sends the method, the body and the headers`(_ method: String) throws {
        let bench = try Bench()
        var request = bench.request("/", method, body: method == "GET" ? "" : "hello")
        request.headers = [("X-One", "1"), ("Content-Type", "text/plain")]
        let response = try #require(bench.send(request)).get()
        #expect(response.status == 200)
        #expect(response["x-echo"] == method)
        #expect(response.address == bench.address.ip && response.ownAddress == .loopback)
        #expect(response.body == request.body)
        #expect(bench.seen.requests.first?.headers["X-One"] == "1")
    }

    @Test(arguments: ["/a/../../b", "/a/./b", "/%2e%2e/b", "/a//b"])
    func `asks for the path that it was given`(_ path: String) throws {
        let bench = try Bench()
        #expect(try #require(bench.send(bench.request(path))).get().status == 200)
        #expect(bench.seen.requests.map(\.target) == [path])
    }

    @Test func `does not follow redirects`() throws {
        let bench = try Bench()
        let response = try #require(bench.send(bench.request("/moved"))).get()
        #expect(response.status == 302)
        #expect(bench.seen.requests.count == 1)
    }

    /// The next one may have a descriptor for it.
    @Test func `a file that does not open makes no request invalid`() throws {
        let bench = try Bench()
        var request = bench.request("/", "PUT")
        request.bodyFile = HTTPBodyFile(path: "/nowhere/1.mp4", length: 1)
        guard case .failure(.failed(let words)) = try #require(bench.send(request)) else {
            Issue.record("it is said to be invalid")
            return
        }
        #expect(words.hasPrefix("cannot read /nowhere/1.mp4"))
    }

    @Test func `gives up at the deadline`() throws {
        let bench = try Bench()
        var request = bench.request("/silent")
        request.deadline = .milliseconds(200)
        guard case .failure(.timedOut) = try #require(bench.send(request)) else {
            Issue.record("an answer came")
            return
        }
        #expect(bench.client.requestCount == 0)
    }

    /// Its deadline is an hour away.
    @Test func `gives up what comes too slowly`() throws {
        let bench = try Bench()
        var request = bench.request("/silent")
        request.deadline = .seconds(3_600)
        request.pace = (bytesPerSecond: 16 * 1024, within: .seconds(1))
        guard case .failure(.timedOut) = try #require(bench.send(request)) else {
            Issue.record("an answer came")
            return
        }
    }

    /// As a segment to a store that stands still: the kernel takes some of it, and then nobody takes anything.
    @Test func `gives up what is taken too slowly`() throws {
        let bench = try Bench()
        var unread: [AcceptedConnection] = []
        let deaf = try TCPListener(loop: bench.loop, address: SocketAddress(.loopback, port: 0)) { unread.append($0) }
        var request = HTTPClientRequest(
            method: "PUT", url: "http://\(deaf.localAddress)/", body: [UInt8](repeating: 0, count: 8 << 20))
        request.deadline = .seconds(3_600)
        request.pace = (bytesPerSecond: 16 * 1024, within: .seconds(1))
        guard case .failure(.timedOut) = try #require(bench.send(request)) else {
            Issue.record("an answer came")
            return
        }
        #expect(unread.count == 1)
        withExtendedLifetime(deaf) {}
    }

    @Test func `bounds answers`() throws {
        let bench = try Bench()
        guard case .failure(.tooLong(status: 200)) = try #require(bench.send(bench.request("/long"))) else {
            Issue.record("300,000 bytes were taken")
            return
        }
    }

    @Test(arguments: ["file:///etc/passwd", "ftp://127.0.0.1/", "not a url", "http://127.0.0.1:1/"])
    func `fails in words`(_ url: String) throws {
        let bench = try Bench()
        guard case .failure = try #require(bench.send(HTTPClientRequest(method: "GET", url: url))) else {
            Issue.record("an answer came")
            return
        }
    }

    @Test func `carries many at once, and no more than its bound`() throws {
        let bench = try Bench()
        var answered = 0
        var refused = 0
        for _ in 0..<(HTTPClient.maximumRequests + 10) {
            bench.client.send(bench.request("/", "POST", body: "x")) { result in
                if case .success(let response) = result, response.status == 200 { answered += 1 }
                if case .failure(.overloaded) = result { refused += 1 }
            }
        }
        let total = HTTPClient.maximumRequests + 10
        _ = bench.loop.run(until: { answered + refused == total }, within: .seconds(120))
        #expect(refused == 10)
        #expect(answered + refused == total)
    }

    @Test func `verifies certificates`() throws {
        let now = EventLoop.wallNow()
        let authority = try Identity.makeAuthority(commonName: "test", now: now, validFor: .seconds(3_600))
        let leaf = try authority.issue(
            commonName: "localhost", dnsNames: ["localhost"], addresses: [.loopback], now: now, validFor: .seconds(3_600))
        let bench = try Bench(tls: try TLSContext(server: leaf))
        let folder = try TemporaryDirectory()
        let path = folder.path + "/ca.pem"
        try Data(authority.certificate.pem()).write(to: URL(fileURLWithPath: path))
        var request = HTTPClientRequest(method: "GET", url: "https://127.0.0.1:\(bench.address.port)/")
        // The system's authorities are read first, on the server's own loop, which a sanitizer makes long.
        request.deadline = .seconds(60)
        HandshakeScheduler.of(bench.loop).limits = HandshakeLimits(perSecond: 100, timeout: .seconds(60))
        let answer = try #require(bench.send(request))
        guard case .failure(.untrusted) = answer else {
            Issue.record("a stranger's certificate was trusted: \(answer)")
            return
        }
        request.tls.certificateAuthority = path
        #expect(try #require(bench.send(request)).get().status == 200)
        withExtendedLifetime(folder) {}
    }
}
