import EventLoop
import GatewayMetrics
import Settings
import Sockets
import Testing
import Wire

@testable import WebRTCTransport

@Suite("The media port")
struct MediaPortTests {
    @Test func `has the receive buffer that the operator asked for`() throws {
        var configuration = TransportConfiguration(advertisedAddresses: [SocketAddress(.loopback, port: 9)])
        configuration.receiveBuffer = .kibibytes(64)
        let context = try TransportContext(
            configuration: configuration, workerCount: 1, metrics: TransportMetrics(MetricsRegistry()))
        let port = try MediaPort(
            loop: try EventLoop(), index: 0, socket: try BoundSocket(.udp, SocketAddress(.loopback, port: 0)), context: context)
        #expect(port.grantedReceiveBufferBytes == 128 << 10, "the kernel counts twice the payload")
        port.stop()
    }
}
