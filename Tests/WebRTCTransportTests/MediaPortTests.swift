import EventLoop
import GatewayMetrics
import Glibc
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
}
