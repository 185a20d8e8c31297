import EventLoop
import GatewayMetrics
import HTTP
import HTTPServer
import OpenSSL
import Sockets
import Testing
import Wire

@testable import SharedPort

/// A shared port on loopback with a real HTTP server behind it, and servers that keep what they are given.
final class Bench {
    /// An authority, and what server and client make of it.
    struct Material {
        let server: TLSContext
        let client: TLSContext

        init() throws {
            let now = EventLoop.wallNow()
            let authority = try Identity.makeAuthority(commonName: "Shared port test CA", now: now, validFor: .seconds(3_600))
            let identity = try authority.issue(
                commonName: "localhost", dnsNames: ["localhost"], addresses: [.loopback], now: now, validFor: .seconds(3_600))
            server = try TLSContext(server: identity)
            client = try TLSContext(clientTrusting: [authority.certificate])
        }
    }

    let loop: EventLoop
    let port: SharedPort
    let admission: ConnectionAdmission
    private(set) var accepted = 0
    private(set) var streams: [TCPStream] = []
    private(set) var bytes: [ConnectionKind: [UInt8]] = [:]
    private let material: Material
    private let metrics = MetricsRegistry()
    private let server: HTTPServer
    private var listener: TCPListener?

    var address: SocketAddress { listener?.localAddress ?? SocketAddress(.loopback, port: 0) }

    init(
        trusted: Bool = false, maximumCount: Int = 100, maximumPerAddress: Int = 100, maximumUnnamed: Int = 100,
        patience: Duration = .seconds(10)
    ) throws {
        (loop, material) = (try EventLoop(), try Material())
        admission = ConnectionAdmission(maximumCount: maximumCount, maximumPerAddress: maximumPerAddress)
        port = SharedPort(
            loop: loop, tls: material.server,
            environment: SharedPortEnvironment(
                trustedProxies: trusted ? [IPNetwork("127.0.0.0/8")!] : [], admission: admission, patience: patience,
                maximumUnnamed: maximumUnnamed, metrics: SharedPortMetrics(metrics)))
        let configuration = HTTPServerConfiguration(
            requestTimeout: .seconds(60), idleTimeout: .seconds(60), maximumBodyLength: 64 << 10, maximumConnections: 1_000,
            maximumConnectionsPerAddress: 1_000)
        server = HTTPServer(loop: loop, configuration: configuration) { request, exchange in
            exchange.respond(HTTPResponse(.ok, contentType: "text/plain", "seen \(request.path)\n"))
        }
        port.servers[.https] = { [unowned self] in server.adopt($0) }
        for kind in [ConnectionKind.rtmps, .ice] { port.servers[kind] = { [unowned self] in keep($0, kind) } }
        listener = try TCPListener(loop: loop, address: SocketAddress(.loopback, port: 0)) { [unowned self] in
            accepted += 1
            port.accept($0)
        }
    }

    private func keep(_ stream: TCPStream, _ kind: ConnectionKind) {
        streams.append(stream)
        stream.onBytes = { [unowned self] in
            bytes[kind, default: []] += $0
            return $0.count
        }
    }

    func connect(tls: Bool = false) throws -> Peer {
        Peer(
            try TCPStream(
                loop: loop, connectingTo: address, tls: tls ? material.client : nil, serverName: tls ? "localhost" : nil))
    }

    func wait(until isDone: () -> Bool) -> Bool { loop.run(until: isDone, within: .seconds(120)) }

    /// Lets what was sent arrive by itself.
    func turn() {
        var isOver = false
        let timer = loop.schedule(after: .milliseconds(1)) { isOver = true }
        #expect(wait { isOver })
        timer.cancel()
    }

    func count(_ series: String) throws -> Int {
        let text = String(decoding: metrics.exposition(), as: UTF8.self)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix(series + " ") }, "\(text)")
        return try #require(Int(line.dropFirst(series.count + 1)))
    }
}

/// A client that says what it is told.
final class Peer {
    private let stream: TCPStream
    private var received: [UInt8] = []
    private var unsent: [UInt8] = []
    private(set) var isOpen = false
    private(set) var isClosed = false

    var text: String { String(decoding: received, as: UTF8.self) }

    init(_ stream: TCPStream) {
        self.stream = stream
        stream.onBytes = { [unowned self] in
            received += $0
            return $0.count
        }
        stream.onOpen = { [unowned self] in
            isOpen = true
            stream.write(unsent)
        }
        stream.onClosed = { [unowned self] _ in isClosed = true }
    }

    func write(_ bytes: [UInt8]) { if isOpen { stream.write(bytes) } else { unsent += bytes } }
}
