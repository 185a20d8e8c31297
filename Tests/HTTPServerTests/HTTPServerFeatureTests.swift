import EventLoop
import GatewayMetrics
import Glibc
import HTTP
import HTTPServer
import JSON
import OpenSSL
import Sockets
import TestSupport
import Testing
import Wire

@Suite("HTTP server: proxies, TLS, events, draining", .timeLimit(.minutes(10)), .serialized)
struct HTTPServerFeatureTests {
    static let close = "Host: localhost\r\nConnection: close\r\n"
    static let proxyHeader: [UInt8] = [
        0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A, 0x21, 0x11, 0x00, 0x0C,
        203, 0, 113, 9, 198, 51, 100, 1, 0xC0, 0x00, 0x1F, 0x90,
    ]

    private func proxied(_ change: (inout HTTPServerConfiguration) -> Void = { _ in }, tls: TLSContext? = nil) throws
        -> ServerUnderTest
    {
        try ServerUnderTest(tls: tls) {
            $0.trustedProxies = [IPNetwork("127.0.0.0/8")!]
            change(&$0)
        }
    }

    @Test(arguments: [1, 5, 28, 100])
    func `a PROXY header tells the client, however it is cut`(size: Int) throws {
        let server = try proxied()
        let client = try server.connect()
        for piece in ByteFeeder.pieces(of: Self.proxyHeader + Array("GET / HTTP/1.1\r\n\(Self.close)\r\n".utf8), size: size) {
            client.stream.write(piece)
            _ = server.loop.run(until: { false }, within: .milliseconds(1))
        }
        #expect(server.wait { client.isClosed })
        #expect(server.requests.first?.source.description == "203.0.113.9:49152")
    }

    @Test(arguments: [0, 1] as [UInt8])
    func `a PROXY header tells whether the client spoke TLS to the balancer`(flags: UInt8) throws {
        var header = Self.proxyHeader + [0x20, 0x00, 0x05, flags, 0, 0, 0, 0]  // PP2_TYPE_SSL
        header[15] += 8
        let server = try proxied()
        let client = try server.connect()
        client.stream.write(header + Array("GET / HTTP/1.1\r\n\(Self.close)\r\n".utf8))
        #expect(server.wait { client.isClosed })
        #expect(server.requests.first?.isSecure == (flags == 1))
    }

    @Test func `X-Forwarded-For does so too, and only from trusted networks`() throws {
        let forwarded =
            "GET / HTTP/1.1\r\nX-Forwarded-For: 1.1.1.1, 203.0.113.9\r\nX-Forwarded-Proto: https\r\n"
            + "X-Forwarded-Prefix: /ingest\r\n\(Self.close)\r\n"
        let trusting = try proxied()
        #expect(try trusting.exchange(forwarded).hasPrefix("HTTP/1.1 200"))
        #expect(trusting.requests.first?.source.ip == IPAddress("203.0.113.9"))
        #expect(trusting.requests.first?.isSecure == true)
        #expect(trusting.requests.first?.pathPrefix == "/ingest")
        let other = try ServerUnderTest()
        _ = try other.exchange(forwarded)
        #expect(other.requests.first?.source.ip == .loopback)
        #expect(other.requests.first?.isSecure == false)
        #expect(other.requests.first?.pathPrefix.isEmpty == true)
    }

    @Test func `the real address's share counts behind a balancer`() throws {
        let server = try proxied { $0.maximumConnectionsPerAddress = 2 }
        let clients = try (0..<4).map { _ in try server.connect() }
        for client in clients { client.stream.write(Self.proxyHeader) }
        #expect(server.wait { clients.filter(\.isClosed).count == 2 })
        #expect(server.server.counters.refused.value == 2)
    }

    @Test func `version 1 is refused by name`() throws {
        let answer = try proxied().exchange("PROXY TCP4 1.2.3.4 1.2.3.4 1 2\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 400") && answer.contains("version 2"))
    }

    @Test func `speaks TLS, also behind a PROXY header`() throws {
        let material = try TestTLS.material()
        let server = try ServerUnderTest(tls: material.server)
        let answer = try server.exchange("GET / HTTP/1.1\r\n\(Self.close)\r\n", tls: material.client)
        #expect(answer.hasSuffix("GET / 0\n"))
        #expect(server.requests[0].isSecure)

        let behind = try proxied(tls: material.server)
        #expect(try behind.exchange("GET / HTTP/1.1\r\n\(Self.close)\r\n", tls: material.client).hasSuffix("GET / 0\n"))
        let client = try behind.connect()
        #expect(behind.wait { client.isOpen })
        client.stream.write(Self.proxyHeader)
        client.stream.startTLS(material.client, serverName: "localhost")
        client.send("GET / HTTP/1.1\r\n\(Self.close)\r\n")
        #expect(behind.wait { client.isClosed })
        #expect(behind.requests.last?.source.ip == IPAddress("203.0.113.9"))
    }

    @Test func `tells who speaks HTTP to it in the clear that it speaks TLS, also behind a PROXY header`() throws {
        let material = try TestTLS.material()
        let server = try ServerUnderTest(tls: material.server)
        let answer = try server.exchange("POST /whip HTTP/1.1\r\n\(Self.close)\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 400 This port speaks HTTPS"))
        #expect(server.requests.isEmpty && server.server.counters.malformed.value == 1)

        let behind = try proxied(tls: material.server)
        let client = try behind.connect()
        client.stream.write(Self.proxyHeader + Array("GET / HTTP/1.1\r\n\(Self.close)\r\n".utf8))
        #expect(behind.wait { client.isClosed })
        #expect(client.text.hasPrefix("HTTP/1.1 400 This port speaks HTTPS") && behind.requests.isEmpty)
    }

    @Test func `event streams send, and notice who leaves`() throws {
        let server = try ServerUnderTest()
        let client = try server.connect()
        client.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(server.wait { server.streams.count == 1 })
        var hasLeft = false
        server.streams[0].onClosed = { hasLeft = true }
        server.streams[0].send(ServerSentEvent(event: "active", data: "{\"a\":1}"))
        #expect(
            server.wait {
                client.text.hasSuffix("1f\r\nevent: active\ndata: {\"a\":1}\n\n\r\n") || client.text.contains("data: {\"a\":1}")
            })
        #expect(client.text.contains("text/event-stream") && client.text.contains("chunked"))
        client.stream.close()
        #expect(server.wait { hasLeft && server.server.connectionCount == 0 })
        #expect(!server.streams[0].isOpen)
    }

    @Test func `who never takes its events is cut off before they pile up`() throws {
        let server = try ServerUnderTest()
        let client = try server.connect()
        client.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(server.wait { server.streams.count == 1 })
        client.stream.pauseReading()
        var (hasLeft, sent) = (false, 0)
        server.streams[0].onClosed = { hasLeft = true }
        let event = ServerSentEvent(data: String(repeating: "a", count: 64 << 10))
        // A megabyte waits here, and some more with both kernels.
        while server.streams[0].isOpen, sent < 1_000 {
            server.streams[0].send(event)
            sent += 1
        }
        #expect((17..<1_000).contains(sent) && hasLeft)
        #expect(server.server.connectionCount == 0)
    }

    @Test func `an event stream says whether its client has taken what was sent, and when it has`() throws {
        let server = try ServerUnderTest()
        let client = try server.connect()
        client.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(server.wait { server.streams.count == 1 })
        client.stream.pauseReading()
        var timesDrained = 0
        server.streams[0].onDrained = { timesDrained += 1 }
        let event = ServerSentEvent(data: String(repeating: "a", count: 64 << 10))
        while server.streams[0].takesMore { server.streams[0].send(event) }
        #expect(server.streams[0].isOpen && timesDrained == 0)
        client.stream.resumeReading()
        #expect(server.wait { timesDrained == 1 })
        #expect(server.streams[0].takesMore)
    }

    @Test func `an event stream to a client that knows no chunks ends with its connection`() throws {
        let server = try ServerUnderTest()
        let client = try server.connect()
        client.send("GET /events HTTP/1.0\r\n\r\n")
        #expect(server.wait { server.streams.count == 1 })
        server.streams[0].send(ServerSentEvent(data: "a"))
        server.streams[0].close()
        #expect(server.wait { client.isClosed })
        #expect(!client.text.contains("Transfer-Encoding") && !client.text.contains("Content-Length"))
        #expect(client.text.contains("Connection: close\r\n") && client.text.hasSuffix("\r\n\r\ndata: a\n\n"))
    }

    @Test func `who holds an event stream hears once that the server has ended it`() throws {
        let server = try ServerUnderTest()
        let client = try server.connect()
        client.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(server.wait { server.streams.count == 1 })
        var endings = 0
        server.streams[0].onClosed = { endings += 1 }
        server.server.suspend()
        #expect(endings == 1 && !server.streams[0].isOpen)
        #expect(server.wait { client.isClosed && server.server.connectionCount == 0 })
        #expect(endings == 1)
    }

    @Test func `draining ends what is idle and lets answers finish`() throws {
        let server = try ServerUnderTest()
        let clients = try ["/", "/held", "/events"].map { path in
            let client = try server.connect()
            client.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
            return client
        }
        #expect(server.wait { clients[0].text.hasSuffix("GET / 0\n") && server.held.count == 1 && server.streams.count == 1 })
        var isDrained = false
        server.server.drain { isDrained = true }
        #expect(server.wait { clients[0].isClosed && clients[2].isClosed })
        #expect(clients[2].text.hasSuffix("0\r\n\r\n") && !isDrained)
        server.held[0].respond(HTTPResponse(.ok))
        #expect(server.wait { isDrained })
        #expect(clients[1].text.contains("Connection: close"))
        let late = try server.connect()
        #expect(server.wait { late.isClosed })
    }

    @Test func `draining lets a kept client take its answer`() throws {
        let server = try ServerUnderTest()
        let client = try server.connect()
        client.takesOneReadAtATime()
        client.send("GET /huge HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(server.wait { !client.received.isEmpty })
        server.server.drain()
        let taking = server.loop.schedule(after: .zero, repeating: .milliseconds(1)) { client.stream.resumeReading() }
        #expect(server.wait { client.isClosed })
        #expect(client.received.count > 16_000_000)
        taking.cancel()
    }

    @Test func `a server that goes leaves exchanges that lead nowhere`() throws {
        let loop = try EventLoop()
        var held: [HTTPExchange] = []
        var streams: [HTTPEventStream] = []
        var server: HTTPServer? = HTTPServer(loop: loop, configuration: .ofTests) { request, exchange in
            if request.path == "/events" {
                streams += [exchange.startEventStream()].compactMap(\.self)
            } else {
                held.append(exchange)
            }
        }
        let address = try #require(try server?.listen(on: SocketAddress(.loopback, port: 0)))
        let clients = try ["/events", "/held"].map { path in
            let client = RawClient(try TCPStream(loop: loop, connectingTo: address))
            client.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
            return client
        }
        #expect(loop.run(until: { held.count == 1 && streams.count == 1 }, within: .seconds(120)))
        server = nil
        #expect(!held[0].isOpen && !streams[0].isOpen)
        held[0].respond(HTTPResponse(.ok))
        streams[0].send(ServerSentEvent(data: "late"))
        #expect(loop.run(until: { clients.allSatisfy(\.isClosed) }, within: .seconds(120)))
    }

    @Test func `it tells of a listener that cannot listen again`() throws {
        let loop = try EventLoop()
        let group = try BoundSocket.group(.tcp, SocketAddress(.loopback, port: 0), count: 2)
        let server = HTTPServer(loop: loop, configuration: .ofTests) { _, exchange in exchange.respond(HTTPResponse(.ok)) }
        try server.listen(on: group[0])
        var faults: [CInt] = []
        server.onExhausted = { faults.append($0) }
        server.suspend()
        // As a process does that takes our place and listens elsewhere.
        for socket in group { socket.descriptor.refuseConnections() }
        let other = try TCPListener(loop: loop, address: group[0].localAddress) { _ in }
        server.resume()
        #expect(faults == [EADDRINUSE])
        withExtendedLifetime(other) {}
    }

    @Test func `requests behind each other are answered in order, one that is dropped with 500`() throws {
        let server = try ServerUnderTest()
        let answers = try server.exchange("GET /a HTTP/1.1\r\nHost: a\r\n\r\nGET /drop HTTP/1.1\r\n\(Self.close)\r\n")
        #expect(answers.split(separator: "HTTP/1.1 ").map { $0.prefix(3) } == ["200", "500"])
    }
}
