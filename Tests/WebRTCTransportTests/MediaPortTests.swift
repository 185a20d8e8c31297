import EventLoop
import GatewayMetrics
import Glibc
import Refusals
import Sockets
import Testing
import Wire

@testable import WebRTCTransport

@Suite("The media port")
struct MediaPortTests {
    @Test func `has the receive buffer that the operator asked for`() throws {
        var configuration = TransportConfiguration(advertisedAddresses: [SocketAddress(.loopback, port: 9)])
        configuration.receiveBuffer = 64 << 10
        let context = try TransportContext(
            configuration: configuration, workerCount: 1, metrics: TransportMetrics(MetricsRegistry()))
        let socket = try BoundSocket(.udp, SocketAddress(.loopback, port: 0))
        let port = try MediaPort(loop: try EventLoop(), index: 0, socket: socket, context: context)
        var (granted, length) = (CInt(0), socklen_t(MemoryLayout<CInt>.size))
        getsockopt(socket.descriptor.number, SOL_SOCKET, SO_RCVBUF, &granted, &length)
        #expect(granted == 128 << 10, "the kernel counts twice the payload")
        port.stop()
    }

    @Test func `what the kernel refuses to send is counted`() throws {
        let metrics = TransportMetrics(MetricsRegistry())
        let context = try TransportContext(
            configuration: TransportConfiguration(advertisedAddresses: [SocketAddress(.loopback, port: 9)]), workerCount: 1,
            metrics: metrics)
        let socket = try BoundSocket(.udp, SocketAddress(.loopback, port: 0))
        let port = try MediaPort(loop: try EventLoop(), index: 0, socket: socket, context: context)
        let path = MediaPath(remote: SocketAddress(.v6(high: 0, low: 1, scope: 0), port: 9))
        ([1] as [UInt8]).withUnsafeBytes { port.send($0, on: path) }
        #expect(metrics.unsent.value == 1)
        port.stop()
    }

    /// Its peer's checks would keep it alive for good: whom another thread ended has no other word of it.
    @Test func `a session whose worker could not be told of its end has it in the next round`() throws {
        let context = try TransportContext(
            configuration: TransportConfiguration(advertisedAddresses: [SocketAddress(.loopback, port: 9)]), workerCount: 2,
            metrics: TransportMetrics(MetricsRegistry()))
        let socket = try BoundSocket(.udp, SocketAddress(.loopback, port: 0))
        let port = try MediaPort(loop: try EventLoop(), index: 0, socket: socket, context: context)
        let entry = StubEntry(on: context)
        #expect(entry.transport.claim(worker: 1))
        let path = MediaPath(remote: SocketAddress(.loopback, port: 10))
        let transport = PeerTransport(entry: entry, port: port, path: path, now: port.loop.now)
        transport.look(at: port.loop.now)
        #expect(!transport.isClosed)
        context.end(entry, .takenOver)
        transport.look(at: port.loop.now)
        #expect(transport.isClosed && !entry.transport.takeFinish(), "finished")
        port.stop()
    }
}
