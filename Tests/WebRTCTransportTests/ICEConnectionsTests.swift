import EventLoop
import GatewayMetrics
import STUN
import Sockets
import Testing
import Wire

@testable import WebRTCTransport

@Suite("ICE-TCP connections", .timeLimit(.minutes(10)))
struct ICEConnectionsTests {
    @Test func `a connection that comes for a session that has ended is closed and forgotten`() throws {
        let loop = try EventLoop()
        let context = try TransportContext(
            configuration: TransportConfiguration(advertisedAddresses: [SocketAddress(.loopback, port: 9)]), workerCount: 1,
            metrics: TransportMetrics(MetricsRegistry()))
        let socket = try BoundSocket(.udp, SocketAddress(.loopback, port: 0))
        let port = try MediaPort(loop: loop, index: 0, socket: socket, context: context)
        var accepted: [AcceptedConnection] = []
        let listener = try TCPListener(loop: loop, address: SocketAddress(.loopback, port: 0)) { accepted.append($0) }
        let client = try TCPStream(loop: loop, connectingTo: listener.localAddress)
        var isClosed = false
        client.onClosed = { _ in isClosed = true }
        #expect(loop.run(until: { !accepted.isEmpty }, within: .seconds(120)))
        do {
            let stream = TCPStream(loop: loop, accepted: accepted.removeFirst())
            port.adopt(try #require(stream.detach()), of: StubEntry(on: context))
        }
        #expect(port.connections.isEmpty)
        #expect(loop.run(until: { isClosed }, within: .seconds(120)))
        port.stop()
    }

    /// What is swept a second later has all places meanwhile: a thousand connections a second kept everybody else out.
    @Test func `of a session's connections those alone stay whose tuples are known`() throws {
        let loop = try EventLoop()
        let context = try TransportContext(
            configuration: TransportConfiguration(advertisedAddresses: [SocketAddress(.loopback, port: 9)]), workerCount: 1,
            metrics: TransportMetrics(MetricsRegistry()))
        let socket = try BoundSocket(.udp, SocketAddress(.loopback, port: 0))
        let port = try MediaPort(loop: loop, index: 0, socket: socket, context: context)
        let entry = StubEntry(on: context)
        context.add(entry)
        let credentials = try #require(entry.transport.newestCredentials)
        let check = STUNClient().check(
            username: "\(credentials.ufrag):peer", password: credentials.password, useCandidate: false)
        let listener = try TCPListener(loop: loop, address: SocketAddress(.loopback, port: 0)) { port.accept($0) }
        var (answered, closed): (Int, [Int]) = (0, [])
        var clients: [TCPStream] = []
        for number in 0..<(TupleTable.maximumPerSession + 4) {
            let client = try TCPStream(loop: loop, connectingTo: listener.localAddress)
            client.onClosed = { _ in closed.append(number) }
            client.onBytes = {
                answered += 1
                return $0.count
            }
            client.write([UInt8(check.count >> 8), UInt8(check.count & 0xFF)] + check)
            clients.append(client)
            #expect(loop.run(until: { answered == clients.count }, within: .seconds(120)))
            #expect(port.connections.connections.count == min(clients.count, TupleTable.maximumPerSession))
        }
        #expect(loop.run(until: { closed.count == 4 }, within: .seconds(120)))
        #expect(!closed.contains(clients.count - 1))
        port.stop()
    }

    @Test func `of one address no more wait for their first check than a venue has`() throws {
        let loop = try EventLoop()
        let strangers = ConnectionAdmission(maximumCount: 100, maximumPerAddress: 5)
        let metrics = TransportMetrics(MetricsRegistry())
        let connections = ICEConnections(loop: loop, strangers: strangers, metrics: metrics)
        var accepted = 0
        let listener = try TCPListener(loop: loop, address: SocketAddress(.loopback, port: 0)) {
            accepted += 1
            connections.accept(TCPStream(loop: loop, accepted: $0))
        }
        let count = 8
        var closed = 0
        let clients = try (0..<count).map { _ in
            let client = try TCPStream(loop: loop, connectingTo: listener.localAddress)
            client.onClosed = { _ in closed += 1 }
            return client
        }
        #expect(loop.run(until: { accepted == count && closed == 3 }, within: .seconds(120)))
        #expect(strangers.count == 5 && metrics.refusedStreams.value == 3)
        connections.closeAll()
        #expect(strangers.count == 0)
        #expect(connections.isEmpty && loop.run(until: { closed == count }, within: .seconds(120)))
        withExtendedLifetime(clients) {}
    }

    @Test func `the oldest that has shown no check makes way for the newest, who has shown one stays`() throws {
        let loop = try EventLoop()
        let strangers = ConnectionAdmission(maximumCount: 2, maximumPerAddress: 100)
        let metrics = TransportMetrics(MetricsRegistry())
        let connections = ICEConnections(loop: loop, strangers: strangers, metrics: metrics)
        var gone: [MediaPath] = []
        connections.onClosed = { gone.append($0) }
        var paths: [MediaPath] = []
        let listener = try TCPListener(loop: loop, address: SocketAddress(.loopback, port: 0)) {
            let stream = TCPStream(loop: loop, accepted: $0)
            paths.append(MediaPath(remote: stream.remoteAddress, local: stream.localAddress.ip, isStream: true))
            connections.accept(stream)
        }
        var clients: [TCPStream] = []
        func connect() throws {
            clients.append(try TCPStream(loop: loop, connectingTo: listener.localAddress))
            #expect(loop.run(until: { paths.count == clients.count }, within: .seconds(120)))
        }
        try connect()
        connections.authenticate(paths[0])
        #expect(strangers.count == 0, "a check was shown")
        for _ in 0..<3 { try connect() }
        #expect(gone.map(\.remote) == [paths[1].remote] && strangers.count == 2 && metrics.displacedStreams.value == 1)
        connections.closeAll()
        #expect(strangers.count == 0 && connections.isEmpty)
    }

    /// At two of our addresses or ports a peer may be with one port of its own, and at two workers.
    @Test func `who comes from another worker finds the address taken, and who has it keeps it and is counted`() throws {
        let loop = try EventLoop()
        let strangers = ConnectionAdmission(maximumCount: 100, maximumPerAddress: 100)
        let metrics = TransportMetrics(MetricsRegistry())
        let connections = ICEConnections(loop: loop, strangers: strangers, metrics: metrics)
        var gone: [MediaPath] = []
        connections.onClosed = { gone.append($0) }
        var accepted: [TCPStream] = []
        let listener = try TCPListener(loop: loop, address: SocketAddress(.loopback, port: 0)) {
            accepted.append(TCPStream(loop: loop, accepted: $0))
        }
        var closed = 0
        let clients = try (0..<2).map { _ in
            let client = try TCPStream(loop: loop, connectingTo: listener.localAddress)
            client.onClosed = { _ in closed += 1 }
            return client
        }
        #expect(loop.run(until: { accepted.count == 2 }, within: .seconds(120)))
        let (first, second) = (try #require(accepted.first), try #require(accepted.last))
        connections.accept(first)
        second.remoteAddress = first.remoteAddress
        do {
            let detached = try #require(second.detach())
            let path = connections.resume(detached)
            #expect(path == nil)
        }
        #expect(loop.run(until: { closed == 1 }, within: .seconds(120)))
        #expect(!first.isClosed && gone.isEmpty && strangers.count == 1 && metrics.refusedStreams.value == 1)
        connections.closeAll()
        #expect(strangers.count == 0 && connections.isEmpty)
        withExtendedLifetime(clients) {}
    }

    @Test func `a peer that does not read loses whole datagrams, and keeps its connection`() throws {
        let loop = try EventLoop()
        let connections = ICEConnections(
            loop: loop, strangers: ConnectionAdmission(maximumCount: 100, maximumPerAddress: 100),
            metrics: TransportMetrics(MetricsRegistry()))
        var (paths, gone, isOpen): ([MediaPath], Int, Bool) = ([], 0, false)
        connections.onClosed = { _ in gone += 1 }
        let listener = try TCPListener(loop: loop, address: SocketAddress(.loopback, port: 0)) {
            let stream = TCPStream(loop: loop, accepted: $0)
            paths.append(MediaPath(remote: stream.remoteAddress, local: stream.localAddress.ip, isStream: true))
            connections.accept(stream)
        }
        let client = try TCPStream(loop: loop, connectingTo: listener.localAddress)
        client.onOpen = { isOpen = true }
        #expect(loop.run(until: { !paths.isEmpty && isOpen }, within: .seconds(120)))
        let path = try #require(paths.first)
        connections.authenticate(path)
        client.pauseReading()
        // More than the kernel takes.
        let count = 24_000
        for number in 0..<count { send([UInt8](repeating: UInt8(number & 0xFF), count: 1_200), by: connections, on: path) }
        let frames = FrameReader(client)
        client.resumeReading()
        let last: [UInt8] = [1, 2, 3]
        let isReached = loop.run(
            until: {
                send(last, by: connections, on: path)
                return frames.all.last == last || gone > 0
            }, within: .seconds(60))
        #expect(isReached && gone == 0)
        let long = frames.all.filter { $0 != last }
        #expect(!long.isEmpty && long.count < count)
        #expect(long.allSatisfy { $0 == [UInt8](repeating: $0.first ?? 0, count: 1_200) })
        connections.closeAll()
    }

    /// Longer than what is taken: a viewer gets Opus of an RTMP encoder as it was published.
    @Test func `a datagram as long as any that we send goes out whole`() throws {
        let loop = try EventLoop()
        let connections = ICEConnections(
            loop: loop, strangers: ConnectionAdmission(maximumCount: 100, maximumPerAddress: 100),
            metrics: TransportMetrics(MetricsRegistry()))
        var paths: [MediaPath] = []
        let listener = try TCPListener(loop: loop, address: SocketAddress(.loopback, port: 0)) {
            let stream = TCPStream(loop: loop, accepted: $0)
            paths.append(MediaPath(remote: stream.remoteAddress, local: stream.localAddress.ip, isStream: true))
            connections.accept(stream)
        }
        let client = try TCPStream(loop: loop, connectingTo: listener.localAddress)
        let frames = FrameReader(client)
        #expect(loop.run(until: { !paths.isEmpty }, within: .seconds(120)))
        let path = try #require(paths.first)
        connections.authenticate(path)
        let longest = [UInt8](repeating: 7, count: PeerTransport.maximumDatagramByteCount)
        send(longest, by: connections, on: path)
        #expect(loop.run(until: { !frames.all.isEmpty }, within: .seconds(120)))
        #expect(frames.all == [longest])
        connections.closeAll()
    }

    private func send(_ datagram: [UInt8], by connections: ICEConnections, on path: MediaPath) {
        datagram.withUnsafeBytes { connections.send($0, on: path) }
    }
}

/// The datagrams that a stream brings (RFC 4571).
private final class FrameReader {
    private(set) var all: [[UInt8]] = []

    init(_ stream: TCPStream) {
        stream.onBytes = { [unowned self] bytes in
            guard bytes.count >= 2 else { return 0 }
            let count = Int(bytes[0]) << 8 | Int(bytes[1])
            guard bytes.count >= 2 + count else { return 0 }
            all.append(Array(bytes[2..<(2 + count)]))
            return 2 + count
        }
    }
}
