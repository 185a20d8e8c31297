import EventLoop
import GatewayMetrics
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
        #expect(loop.run(until: { !accepted.isEmpty }, within: .seconds(20)))
        do {
            let stream = TCPStream(loop: loop, accepted: accepted.removeFirst())
            port.adopt(try #require(stream.detach()), of: StubEntry(on: context))
        }
        #expect(port.connections.isEmpty)
        #expect(loop.run(until: { isClosed }, within: .seconds(20)))
        port.stop()
    }

    @Test func `of one address no more wait for their first check than a venue has`() throws {
        let loop = try EventLoop()
        let connections = ICEConnections(loop: loop)
        var accepted = 0
        let listener = try TCPListener(loop: loop, address: SocketAddress(.loopback, port: 0)) {
            accepted += 1
            connections.accept(TCPStream(loop: loop, accepted: $0))
        }
        let count = ICEConnections.maximumWaitingPerAddress + 3
        var closed = 0
        let clients = try (0..<count).map { _ in
            let client = try TCPStream(loop: loop, connectingTo: listener.localAddress)
            client.onClosed = { _ in closed += 1 }
            return client
        }
        #expect(loop.run(until: { accepted == count && closed == 3 }, within: .seconds(20)))
        connections.closeAll()
        #expect(connections.isEmpty && loop.run(until: { closed == count }, within: .seconds(20)))
        withExtendedLifetime(clients) {}
    }
}
