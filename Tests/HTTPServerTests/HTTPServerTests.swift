import EventLoop
import GatewayMetrics
import HTTP
import HTTPServer
import OpenSSL
import Sockets
import TestSupport
import Testing
import Wire

@Suite("HTTP server", .timeLimit(.minutes(10)), .serialized)
struct HTTPServerTests {
    static let host = "Host: localhost\r\n"
    static let close = "Host: localhost\r\nConnection: close\r\n"

    @Test func `keeps connections and answers pipelined requests in order`() throws {
        let server = try ServerUnderTest()
        let answers = try server.exchange(
            "GET /a HTTP/1.1\r\n\(Self.host)\r\nPOST /b HTTP/1.1\r\n\(Self.host)Content-Length: 2\r\n\r\nxyHEAD /c HTTP/1.1\r\n\(Self.close)\r\n"
        )
        #expect(server.requests.map(\.path) == ["/a", "/b", "/c"])
        #expect(answers.contains("GET /a 0\n") && answers.contains("POST /b 2\n") && !answers.contains("HEAD /c"))
        #expect(answers.hasSuffix("Connection: close\r\n\r\n"))
        #expect(answers.split(separator: "\r\n").filter { $0 == "X-Content-Type-Options: nosniff" }.count == 3)
        #expect(answers.split(separator: "\r\n").filter { $0 == "X-Frame-Options: DENY" }.count == 3, "nobody frames our pages")
        #expect(server.requests[0].source.ip == .loopback)
    }

    @Test func `answers later, in order, whatever waits behind`() throws {
        let server = try ServerUnderTest()
        let client = try server.connect()
        let waiting = String(repeating: "GET /x HTTP/1.1\r\n\(Self.host)\r\n", count: 2000)
        client.send("GET /held HTTP/1.1\r\n\(Self.host)\r\n\(waiting)GET /end HTTP/1.1\r\n\(Self.close)\r\n")
        #expect(server.wait { server.held.count == 1 })
        #expect(!server.loop.run(until: { !client.received.isEmpty }, within: .milliseconds(50)))
        server.held[0].respond(HTTPResponse(.ok, contentType: "text/plain", "first"))
        server.held[0].respond(HTTPResponse(.ok, contentType: "text/plain", "second"))
        #expect(server.wait { client.isClosed })
        #expect(client.text.components(of: "GET /x 0\n") == 2000)
        #expect(client.text.contains("first") && !client.text.contains("second"))
    }

    static let raw: [(String, Int)] = [
        ("GET / HTTP/1.1\r\n\(close)\r\n", 200), ("GET / HTTP/1.0\r\n\r\n", 200), ("\r\nGET / HTTP/1.1\r\n\(close)\r\n", 200),
        ("GET http://localhost/ HTTP/1.1\r\n\(close)\r\n", 200), ("OPTIONS * HTTP/1.1\r\n\(close)\r\n", 200),
        ("BREW / HTTP/1.1\r\n\(close)\r\n", 200), ("GET / HTTP/1.1\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400),
        ("GET / HTTP/1.1\nHost: a\n\n", 400), ("GET / HTTP/1.1\r\n\(host)X: a\u{0}b\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\n\(host)X: a\r\n b\r\n\r\n", 400), ("GET / HTTP/1.1\r\n\(host)X : a\r\n\r\n", 400),
        ("GET / HTTP/2.0\r\n\(host)\r\n", 505), ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
        ("CONNECT a:1 HTTP/1.1\r\n\(host)\r\n", 400),
        ("nonsense\r\n\r\n", 400), ("\u{16}\u{3}\u{1}\u{2}", 400), ("\u{3}", 400), ("GET /%zz HTTP/1.1\r\n\(host)\r\n", 400),
        ("POST / HTTP/1.1\r\n\(host)Content-Length: 1\r\nContent-Length: 1\r\n\r\nx", 400),
        ("POST / HTTP/1.1\r\n\(host)Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\n\(host)Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
        ("POST / HTTP/1.1\r\n\(host)Content-Length: -1\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\n\(host)Content-Length: 1001\r\n\r\n", 413),
        ("POST / HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\n\r\nfff\r\n", 413),
        ("GET / HTTP/1.1\r\n\(host)Expect: cake\r\n\r\n", 417), ("GET /\(String(repeating: "x", count: 9000)) HTTP/1.1\r\n", 414),
        ("GET / HTTP/1.1\r\nX: \(String(repeating: "x", count: 17_000))\r\n", 431),
        ("GET / HTTP/1.1\r\n" + String(repeating: "X: y\r\n", count: 200), 431),
        ("POST / HTTP/1.1\r\n\(close)Transfer-Encoding: chunked\r\n\r\n3;x\r\nabc\r\n0\r\nT: x\r\n\r\n", 200),
        ("GET /drop HTTP/1.1\r\n\(close)\r\n", 500), ("PROXY TCP4 1.2.3.4 1.2.3.4 1 2\r\nGET / HTTP/1.1\r\n\(host)\r\n", 400),
    ]

    @Test(arguments: raw)
    func `answers once and closes`(_ text: String, _ status: Int) throws {
        let server = try ServerUnderTest()
        let answer = try server.exchange(text)
        #expect(answer.hasPrefix("HTTP/1.1 \(status) "))
        #expect(answer.components(of: "Content-Length: ") == 1)
        if status != 200 { #expect(answer.contains("application/problem+json")) }
    }

    @Test func `a client that waits for 100 Continue is told`() throws {
        let server = try ServerUnderTest()
        let client = try server.connect()
        client.send("POST / HTTP/1.1\r\n\(Self.close)Expect: 100-continue\r\nContent-Length: 3\r\n\r\n")
        #expect(server.wait { client.text == "HTTP/1.1 100 Continue\r\n\r\n" })
        client.send("abc")
        #expect(server.wait { client.isClosed })
        #expect(client.text.hasSuffix("POST / 3\n"))
    }

    @Test func `one byte after another buys no time`() throws {
        let server = try ServerUnderTest { $0.requestTimeout = .milliseconds(200) }
        let client = try server.connect()
        let text = Array("GET / HTTP/1.1\r\n\(Self.host)X: \(String(repeating: "y", count: 5000))".utf8)
        var position = 0
        let dribble = server.loop.schedule(after: .zero, repeating: .milliseconds(5)) {
            guard position < text.count else { return }
            client.stream.write([text[position]])
            position += 1
        }
        #expect(server.wait { client.isClosed })
        #expect(position < text.count, "it had more to say")
        #expect(client.text.hasPrefix("HTTP/1.1 408 "))
        dribble.cancel()
    }

    @Test func `silent, idle and unanswered connections end`() throws {
        let server = try ServerUnderTest {
            $0.requestTimeout = .seconds(1)
            $0.idleTimeout = .seconds(1)
            $0.answerTimeout = .seconds(1)
        }
        let silent = try server.connect()
        let idle = try server.connect()
        idle.send("GET / HTTP/1.1\r\n\(Self.host)\r\n")
        let unanswered = try server.connect()
        unanswered.send("GET /held HTTP/1.1\r\n\(Self.host)Connection: close\r\n\r\n")
        #expect(server.wait { silent.isClosed && idle.isClosed && unanswered.isClosed })
        #expect(silent.text.isEmpty)
        #expect(unanswered.text.hasPrefix("HTTP/1.1 503 "))
        #expect(server.cancelled == 1 && !server.held[0].isOpen)
        #expect(server.server.counters.timedOut.value == 2, "an answered one may rest so long")
    }

    @Test func `an answer that takes its time is waited for`() throws {
        let server = try ServerUnderTest { $0.answerTimeout = .milliseconds(100) }
        let (slow, held) = (try server.connect(), try server.connect())
        slow.send("GET /slow HTTP/1.1\r\n\(Self.close)\r\n")
        try #require(server.wait { server.held.count == 1 })
        // Who has asked later has waited for as long as it may.
        held.send("GET /held HTTP/1.1\r\n\(Self.close)\r\n")
        try #require(server.wait { held.isClosed })
        server.held[0].respond(HTTPResponse(.ok))
        #expect(server.wait { slow.isClosed })
        #expect(slow.text.hasPrefix("HTTP/1.1 200 ") && held.text.hasPrefix("HTTP/1.1 503 "))
    }

    @Test func `a client that leaves takes its exchange along`() throws {
        let server = try ServerUnderTest()
        let client = try server.connect()
        client.send("GET /held HTTP/1.1\r\n\(Self.host)\r\n")
        #expect(server.wait { server.held.count == 1 })
        client.stream.close()
        // A peer that has only finished sending may still want its answer, and gets it.
        server.held[0].respond(HTTPResponse(.ok))
        #expect(server.wait { server.server.connectionCount == 0 })
    }

    @Test func `a big answer arrives whole though its reader pauses`() throws {
        let server = try ServerUnderTest()
        let client = try server.connect()
        #expect(server.wait { client.isOpen })
        client.stream.pauseReading()
        client.send(String(repeating: "GET /big HTTP/1.1\r\n\(Self.host)\r\n", count: 20))
        // The kernel's buffers take some 6 MB, ours the rest of one answer.
        #expect(!server.loop.run(until: { server.requests.count > 10 }, within: .milliseconds(200)))
        client.stream.resumeReading()
        #expect(server.wait { client.received.count > 40_000_000 })
    }

    @Test(arguments: [host, close])
    func `an answer arrives whole, however much longer than buffers it is`(_ fields: String) throws {
        let server = try ServerUnderTest()
        let client = try server.connect()
        client.send("GET /huge HTTP/1.1\r\n\(fields)\r\n")
        #expect(server.wait { client.isClosed || client.received.count > 16_000_000 })
        #expect(client.received.count > 16_000_000)
    }

    @Test func `the last answer of a connection may be taken for as long as any other`() throws {
        let patient = try ServerUnderTest { $0.idleTimeout = .seconds(600) }
        var configuration = patient.server.configuration
        configuration.idleTimeout = .milliseconds(50)
        let hasty = HTTPServer(loop: patient.loop, configuration: configuration) { _, exchange in
            exchange.respond(HTTPResponse(.ok, body: [UInt8](repeating: 0, count: 16_000_000)))
        }
        let address = try hasty.listen(on: SocketAddress(.loopback, port: 0))
        let clients = try [patient.address, address].map { RawClient(try TCPStream(loop: patient.loop, connectingTo: $0)) }
        #expect(patient.wait { clients.allSatisfy(\.isOpen) })
        for client in clients { client.stream.pauseReading() }
        clients[0].send("GET /huge HTTP/1.1\r\n\(Self.close)\r\n")
        #expect(patient.wait { patient.requests.count == 1 })
        clients[1].send("GET / HTTP/1.1\r\n\(Self.close)\r\n")
        #expect(patient.wait { hasty.counters.requests.value == 1 && hasty.connectionCount == 0 })
        #expect(patient.server.connectionCount == 1)
        for client in clients { client.stream.close() }
        #expect(patient.wait { patient.server.connectionCount == 0 })
    }

    /// Each takes 64 KiB in 120 ms at most, for three times `idleTimeout`, in one of which the kernel may take nothing of us: it
    /// waits until a third of its 4 MiB is gone. Then all of the 16 MB.
    @Test func `who takes a long answer steadily gets all of it`() throws {
        // Where this thread had no CPU for half of that time nobody has taken steadily.
        var longestGap = Duration.seconds(60)
        while longestGap > .seconds(1) { longestGap = try takeSteadily() }
    }

    /// - Returns: the longest time in which nothing was taken.
    private func takeSteadily() throws -> Duration {
        let server = try ServerUnderTest { $0.idleTimeout = .seconds(2) }
        let clients = try [Self.host, Self.close].map { fields in
            let client = try server.connect()
            client.takesOneReadAtATime()
            client.send("GET /huge HTTP/1.1\r\n\(fields)\r\n")
            return client
        }
        var (longestGap, latest) = (Duration.zero, EventLoop.monotonicNow())
        func take() {
            longestGap = max(longestGap, EventLoop.monotonicNow() - latest)
            latest = EventLoop.monotonicNow()
            for client in clients { client.stream.resumeReading() }
        }
        var taking = server.loop.schedule(after: .zero, repeating: .milliseconds(120)) { take() }
        _ = server.loop.run(until: { clients.contains(where: \.isClosed) }, within: .seconds(6))
        taking.cancel()
        taking = server.loop.schedule(after: .zero, repeating: .milliseconds(1)) { take() }
        #expect(server.loop.run(until: { clients.allSatisfy(\.isClosed) }, within: .seconds(120)))
        #expect(longestGap > .seconds(1) || clients.allSatisfy { $0.received.count > 16_000_000 })
        taking.cancel()
        return longestGap
    }

    @Test func `the cap is exact, and kept idle connections make way`() throws {
        let server = try ServerUnderTest { $0.maximumConnections = 50 }
        let clients = try (0..<70).map { _ in try server.connect() }
        #expect(server.wait { clients.filter(\.isClosed).count == 20 })
        #expect(server.server.counters.displaced.value == 20 && server.server.connectionCount == 50)
        let kept = clients.filter { !$0.isClosed }
        for client in kept {
            client.send("GET / HTTP/1.1\r\n\(Self.host)\r\n")
            #expect(server.wait { client.text.hasSuffix("GET / 0\n") })
        }
        #expect(try server.exchange("GET /new HTTP/1.1\r\n\(Self.close)\r\n").hasPrefix("HTTP/1.1 200"))
        #expect(server.wait { kept[0].isClosed } && kept[1...].allSatisfy { !$0.isClosed })
        withExtendedLifetime(clients) {}
    }

    @Test func `who still takes an answer does not make way, however long ago it was answered`() throws {
        let server = try ServerUnderTest { $0.maximumConnections = 2 }
        let taking = try server.connect()
        taking.takesOneReadAtATime()
        taking.send("GET /huge HTTP/1.1\r\n\(Self.host)\r\n")
        try #require(server.wait { !taking.received.isEmpty })
        let kept = try server.connect()
        kept.send("GET /kept HTTP/1.1\r\n\(Self.host)\r\n")
        try #require(server.wait { kept.text.hasSuffix("GET /kept 0\n") })
        #expect(try server.exchange("GET /new HTTP/1.1\r\n\(Self.close)\r\n").hasPrefix("HTTP/1.1 200"))
        #expect(server.wait { kept.isClosed } && !taking.isClosed)
    }

    @Test func `servers of one configuration share its cap, and the end of one gives its part back`() throws {
        let site = try ServerUnderTest { ($0.maximumConnections, $0.requestTimeout) = (3, .seconds(60)) }
        let clients = try (0..<2).map { _ in try site.connect() }
        #expect(site.wait { site.server.connectionCount == 2 })
        for _ in 0..<2 {
            let other = HTTPServer(loop: site.loop, configuration: site.server.configuration) { _, exchange in
                exchange.respond(HTTPResponse(.ok))
            }
            let address = try other.listen(on: SocketAddress(.loopback, port: 0))
            let others = try (0..<2).map { _ in RawClient(try TCPStream(loop: site.loop, connectingTo: address)) }
            #expect(site.wait { others[0].isClosed })
            #expect(other.counters.displaced.value == 1 && other.connectionCount == 1 && other.counters.refused.value == 0)
            #expect(!others[1].isClosed && site.server.connectionCount == 2)
        }
        #expect(clients.count { $0.isClosed } == 0)
    }

    /// As conf/stagedoor.yaml says: an address may come to each worker.
    @Test func `servers of one configuration count an address each for itself`() throws {
        let site = try ServerUnderTest { ($0.maximumConnectionsPerAddress, $0.countsLoopback) = (1, true) }
        let other = HTTPServer(loop: site.loop, configuration: site.server.configuration) { _, exchange in
            exchange.respond(HTTPResponse(.ok))
        }
        let addresses = [site.address, try other.listen(on: SocketAddress(.loopback, port: 0))]
        let clients = try (addresses + addresses).map { RawClient(try TCPStream(loop: site.loop, connectingTo: $0)) }
        #expect(site.wait { clients[2].isClosed && clients[3].isClosed })
        #expect(site.server.connectionCount == 1 && other.connectionCount == 1)
    }

    @Test func `nobody makes way for one whose address has its share`() throws {
        let server = try ServerUnderTest {
            ($0.maximumConnections, $0.maximumConnectionsPerAddress, $0.countsLoopback) = (2, 2, true)
        }
        let clients = try (0..<3).map { _ in try server.connect() }
        #expect(server.wait { clients[2].isClosed })
        #expect(server.server.counters.displaced.value == 0 && server.server.counters.refused.value == 1)
        #expect(!clients[0].isClosed && !clients[1].isClosed)
    }

    @Test func `operators see who is turned away, by listener and reason`() throws {
        let registry = MetricsRegistry()
        let server = try ServerUnderTest(counters: HTTPServerCounters(registry, listener: "http")) {
            ($0.maximumConnectionsPerAddress, $0.countsLoopback) = (1, true)
        }
        let clients = try (0..<3).map { _ in try server.connect() }
        #expect(server.wait { clients[1].isClosed && clients[2].isClosed })
        clients[0].send("GET / HTTP/1.1\r\n\(Self.close)\r\n")
        #expect(server.wait { clients[0].isClosed })
        let text = String(decoding: registry.exposition(), as: UTF8.self)
        #expect(text.contains("\nstagedoor_http_closed_total{listener=\"http\",reason=\"refused\"} 2\n"))
        #expect(text.contains("\nstagedoor_http_closed_total{listener=\"http\",reason=\"timeout\"} 0\n"))
        #expect(text.contains("\nstagedoor_http_connections_total{listener=\"http\"} 1\n"))
        #expect(text.contains("\nstagedoor_http_requests_total{listener=\"http\"} 1\n"))
    }

    @Test func `who has sent no whole request makes way, oldest first, and nobody else does`() throws {
        let site = try ServerUnderTest { $0.maximumConnections = 6 }
        let streaming = try site.connect()
        streaming.send("GET /events HTTP/1.1\r\nHost: h\r\n\r\n")
        let waiting = try site.connect()
        waiting.send("GET /held HTTP/1.1\r\nHost: h\r\n\r\n")
        let kept = try site.connect()
        kept.send("GET /kept HTTP/1.1\r\nHost: h\r\n\r\n")
        try #require(site.wait { site.streams.count == 1 && site.held.count == 1 && kept.text.contains("/kept") })
        var silent: [RawClient] = []
        for number in 0..<50 {
            silent.append(try site.connect())
            if number.isMultiple(of: 2) { silent[number].send("GET /half HTTP/1.1\r\n") }
            try #require(site.wait { site.server.counters.accepted.value == 4 + number })
        }
        let honest = try site.connect()
        honest.send("GET /honest HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(site.wait { honest.text.contains("/honest") })
        #expect(site.wait { silent[..<47].allSatisfy(\.isClosed) } && site.server.counters.refused.value == 0)
        #expect(site.server.counters.displaced.value == 48)
        kept.send("GET /again HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(site.wait { kept.text.contains("/again") })
        site.held[0].respond(HTTPResponse(.ok))
        #expect(site.wait { waiting.text.contains("200 OK") })
        #expect(!streaming.isClosed && site.streams[0].isOpen)
    }

    @Test func `an address has its share, and more once it is trusted`() throws {
        let trust = AddressTrust()
        let server = try ServerUnderTest {
            $0.maximumConnectionsPerAddress = 3
            $0.countsLoopback = true
            $0.trust = trust
        }
        let clients = try (0..<5).map { _ in try server.connect() }
        #expect(server.wait { clients.filter(\.isClosed).count == 2 })
        trust.publishBegan(.loopback, at: EventLoop.monotonicNow())
        let more = try (0..<5).map { _ in try server.connect() }
        #expect(server.wait { server.server.connectionCount == 8 })
        #expect(more.allSatisfy { !$0.isClosed })
    }
}

extension String {
    /// How often `mark` stands in the text.
    func components(of mark: String) -> Int { ranges(of: mark).count }
}
