import EventLoop
import Glibc
import OpenSSL
import Sockets
import Testing
import Wire

/// A listener on loopback and the streams it accepted, on one loop.
final class Server {
    let loop: EventLoop
    var listener: TCPListener?
    var accepted: [TCPStream] = []
    var closures: [StreamClosure] = []
    /// Prepares every accepted stream.
    var prepare: (TCPStream) -> Void = { _ in }

    var address: SocketAddress { listener?.localAddress ?? SocketAddress(.anyV4, port: 0) }

    init(loop: EventLoop, tls: TLSContext? = nil) throws {
        self.loop = loop
        listener = try TCPListener(loop: loop, address: SocketAddress(.loopback, port: 0), tls: tls) {
            [unowned self] connection in
            let stream = TCPStream(loop: loop, accepted: connection)
            stream.onClosed = { [unowned self] in closures.append($0) }
            prepare(stream)
            accepted.append(stream)
        }
    }

    func connect(tls: TLSContext? = nil, serverName: String? = nil) throws -> Client {
        Client(try TCPStream(loop: loop, connectingTo: address, tls: tls, serverName: serverName))
    }

    func wait(until isDone: () -> Bool) -> Bool { loop.run(until: isDone, within: .seconds(60)) }
}

/// A connecting stream and what became of it.
final class Client {
    let stream: TCPStream
    var received: [UInt8] = []
    var closure: StreamClosure?
    var isOpen = false

    init(_ stream: TCPStream) {
        self.stream = stream
        stream.onBytes = { [unowned self] bytes in
            received += bytes
            return bytes.count
        }
        stream.onClosed = { [unowned self] in closure = $0 }
        stream.onOpen = { [unowned self] in isOpen = true }
    }
}

/// A certificate authority, and a server's context signed by it, made once.
enum TestTLS {
    struct Material: Sendable {
        let authority: Identity
        let server: TLSContext
        let client: TLSContext
    }

    static func material() throws -> Material { try made.get() }

    private static let made = Result {
        let now = EventLoop.wallNow()
        let authority = try Identity.makeAuthority(commonName: "Sockets test CA", now: now, validFor: .seconds(3_600))
        let identity = try authority.issue(
            commonName: "localhost", dnsNames: ["localhost"], addresses: [.loopback], now: now, validFor: .seconds(3_600))
        return Material(
            authority: authority, server: try TLSContext(server: identity),
            client: try TLSContext(clientTrusting: [authority.certificate]))
    }
}

/// Descriptors that this process has open.
func openDescriptors() -> Int {
    guard let folder = opendir("/proc/self/fd") else { return -1 }
    defer { closedir(folder) }
    var count = 0
    while readdir(folder) != nil { count += 1 }
    return count
}
