import EventLoop
import Glibc
import HTTP
import HTTPServer
import OpenSSL
import Sockets
import TestSupport
import Testing
import Wire

/// A server on loopback, and clients, on one loop.
final class ServerUnderTest {
    let loop: EventLoop
    let server: HTTPServer
    let address: SocketAddress
    private let inbox: Inbox

    final class Inbox {
        var seen: [HTTPRequest] = []
        var held: [HTTPExchange] = []
        var cancelled = 0
        var streams: [HTTPEventStream] = []
    }

    init(
        tls: TLSContext? = nil, counters: HTTPServerCounters = HTTPServerCounters(),
        _ change: (inout HTTPServerConfiguration) -> Void = { _ in }
    ) throws {
        var configuration = HTTPServerConfiguration.ofTests
        configuration.maximumBodyLength = 1000
        change(&configuration)
        loop = try EventLoop()
        let inbox = Inbox()
        self.inbox = inbox
        server = HTTPServer(loop: loop, configuration: configuration, counters: counters) { Self.handle($0, $1, inbox) }
        address = try server.listen(on: SocketAddress(.loopback, port: 0), tls: tls)
    }

    deinit { loop.letGo() }

    /// `/held` waits, `/slow` for a minute if need be, `/drop` is forgotten, `/events` streams, `/big` is 2 MB, `/huge` 16 MB;
    /// the rest is echoed.
    private static func handle(_ request: HTTPRequest, _ exchange: HTTPExchange, _ inbox: Inbox) {
        inbox.seen.append(request)
        switch request.path {
        case "/held":
            exchange.onCancelled = { inbox.cancelled += 1 }
            inbox.held.append(exchange)
        case "/slow":
            exchange.waits(for: .seconds(60))
            inbox.held.append(exchange)
        case "/drop": break
        case "/events": exchange.startEventStream().map { inbox.streams.append($0) }
        case "/big": exchange.respond(HTTPResponse(.ok, body: [UInt8](repeating: 66, count: 2_000_000)))
        case "/huge": exchange.respond(HTTPResponse(.ok, body: [UInt8](repeating: 67, count: 16_000_000)))
        default:
            exchange.respond(
                HTTPResponse(.ok, contentType: "text/plain", "\(request.method) \(request.path) \(request.body.count)\n"))
        }
    }

    var requests: [HTTPRequest] { inbox.seen }
    var held: [HTTPExchange] {
        get { inbox.held }
        set { inbox.held = newValue }
    }
    var streams: [HTTPEventStream] {
        get { inbox.streams }
        set { inbox.streams = newValue }
    }
    var cancelled: Int { inbox.cancelled }

    func wait(until isDone: () -> Bool) -> Bool { loop.run(until: isDone, within: .seconds(120)) }

    func connect(tls: TLSContext? = nil) throws -> RawClient {
        RawClient(
            try TCPStream(loop: loop, connectingTo: address, tls: tls, serverName: tls == nil ? nil : "localhost"))
    }

    /// Sends text on a new connection and gives everything that comes back before the server closes it.
    func exchange(_ text: String, tls: TLSContext? = nil) throws -> String {
        let client = try connect(tls: tls)
        client.send(text)
        try #require(wait { client.isClosed })
        return client.text
    }
}

/// A client that sends what it is told.
final class RawClient {
    let stream: TCPStream
    private(set) var received: [UInt8] = []
    private(set) var isClosed = false
    private(set) var isOpen = false
    private(set) var closure: StreamClosure?

    init(_ stream: TCPStream) {
        self.stream = stream
        stream.onBytes = { [unowned self] bytes in
            received += bytes
            return bytes.count
        }
        stream.onClosed = { [unowned self] in (isClosed, closure) = (true, $0) }
        stream.onOpen = { [unowned self] in isOpen = true }
    }

    var text: String { String(decoding: received, as: UTF8.self) }

    /// Reads no further by itself: somebody says `stream.resumeReading()`.
    func takesOneReadAtATime() {
        stream.onBytes = { [unowned self] bytes in
            received += bytes
            stream.pauseReading()
            return bytes.count
        }
    }

    func send(_ text: String) { stream.write(Array(text.utf8)) }
}

/// A certificate authority and a server's context, made once.
enum TestTLS {
    struct Material: Sendable {
        let authority: Identity
        let server: TLSContext
        let client: TLSContext
    }

    static func material() throws -> Material { try made.get() }

    private static let made = Result {
        let now = EventLoop.wallNow()
        let authority = try Identity.makeAuthority(commonName: "HTTP test CA", now: now, validFor: .seconds(3600))
        let identity = try authority.issue(
            commonName: "localhost", dnsNames: ["localhost"], addresses: [.loopback], now: now, validFor: .seconds(3600))
        return Material(
            authority: authority, server: try TLSContext(server: identity),
            client: try TLSContext(clientTrusting: [authority.certificate]))
    }
}

extension HTTPServerConfiguration {
    static var ofTests: HTTPServerConfiguration {
        HTTPServerConfiguration(
            requestTimeout: .seconds(10), idleTimeout: .seconds(60), maximumBodyLength: 64 << 10, maximumConnections: 2_000,
            maximumConnectionsPerAddress: 64)
    }
}
