import HTTPServer
import Settings
import Sockets
import Testing
import WebRTCTransport
import Wire

@testable import Node

/// That what an operator sets arrives at whatever obeys it.
@Suite
struct SettingsInForceTests {
    @Test func `HTTP and HTTPS have limits of their own`() {
        var configuration = StagedoorConfiguration()
        configuration.https.requestTimeout = .seconds(1)
        configuration.https.idleTimeout = .seconds(2)
        configuration.https.maximumConnections = 3
        configuration.limits.connectionsPerAddress = 4
        let https = HTTPServerConfiguration(configuration.https, of: configuration, trust: AddressTrust())
        #expect(https.requestTimeout == .seconds(1) && https.idleTimeout == .seconds(2))
        #expect(https.maximumConnections == 3 && https.maximumConnectionsPerAddress == 4)
        let http = HTTPServerConfiguration(configuration.http, of: configuration, trust: AddressTrust())
        #expect(http.requestTimeout == configuration.http.requestTimeout)
        #expect(http.maximumConnections == configuration.http.maximumConnections)
    }

    @Test func `TLS handshakes are as many and as long as tls says`() {
        var settings = TLSSettings()
        (settings.handshakesPerSecond, settings.handshakeTimeout) = (7, .seconds(9))
        let limits = HandshakeLimits(settings, trust: nil)
        #expect(limits.perSecond == 7 && limits.timeout == .seconds(9))
    }

    @Test func `the media port asks for media.receiveBuffer`() throws {
        var configuration = StagedoorConfiguration()
        configuration.media.receiveBuffer = .kibibytes(100)
        let transport = try TransportConfiguration(configuration, media: SocketAddress(.loopback, port: 3478), shared: nil)
        #expect(transport.receiveBuffer == 100 << 10)
    }

    @Test(arguments: [(0, 1, 1), (0, 2, 1), (0, 3, 2), (0, 8, 4), (5, 2, 5)])
    func `audio is transcoded by half of the processors, or as many threads as are said`(
        threads: Int, processors: Int, count: Int
    ) {
        var settings = TranscodingSettings()
        settings.threads = threads
        #expect(settings.threadCount(processors: processors) == count)
    }
}
