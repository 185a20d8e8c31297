import Handover
import Settings
import Sockets
import Store
import Testing
import WebRTCTransport
import Wire

@testable import Node

/// Where clients are sent, once there is a shared port.
@Suite
struct SharedPortNamesTests {
    private static let anyPort = ListenAddress(SocketAddress(.loopback, port: 0))

    private func configuration(isCertified: Bool = false) -> StagedoorConfiguration {
        var configuration = StagedoorConfiguration()
        (configuration.http.listen, configuration.https.listen) = (Self.anyPort, Self.anyPort)
        (configuration.rtmp.listen, configuration.listen.shared) = (Self.anyPort, Self.anyPort)
        (configuration.media.listen, configuration.admin.listen) = (Self.anyPort, .off)
        configuration.advertise.host = "stage.example"
        if isCertified { (configuration.tls.certificate, configuration.tls.privateKey) = ("a.pem", "a.key") }
        return configuration
    }

    @Test
    func `URLs with TLS lead to the shared port, the others where they led`() throws {
        let configuration = configuration(isCertified: true)
        let listeners = try Listeners(configuration, workers: 1)
        let port = try #require(listeners.shared.first?.localAddress.port)
        let endpoints = StageEndpoints(configuration, listeners: listeners)
        #expect(endpoints.whip == "https://stage.example:\(port)/whip" && endpoints.events.hasPrefix("wss://"))
        #expect(endpoints.rtmps == "rtmps://stage.example:\(port)/app/")
        #expect(endpoints.rtmp == "rtmp://stage.example:\(listeners.rtmp[0].localAddress.port)/app/")
    }

    @Test
    func `without a certificate that clients trust WHIP stays where it was`() throws {
        var configuration = configuration()
        let listeners = try Listeners(configuration, workers: 1)
        let endpoints = StageEndpoints(configuration, listeners: listeners)
        #expect(endpoints.whip == "http://stage.example:\(listeners.publicHTTP[0].localAddress.port)/whip")
        configuration.endpoints.rtmps = "rtmps://given/app/"
        #expect(StageEndpoints(configuration, listeners: listeners).rtmps == "rtmps://given/app/")
    }

    @Test
    func `in place of all other listeners it is told under its public number`() throws {
        var configuration = configuration()
        (configuration.http.listen, configuration.https.listen, configuration.rtmp.listen) = (.off, .off, .off)
        configuration.advertise.sharedPort = 443
        let endpoints = StageEndpoints(configuration, listeners: try Listeners(configuration, workers: 1))
        #expect(endpoints.whip == "https://stage.example:443/whip" && endpoints.rtmps == "rtmps://stage.example:443/app/")
        #expect(endpoints.rtmp.isEmpty)
    }

    @Test
    func `ICE-TCP is offered at the media port and at the shared one, each once`() throws {
        var configuration = configuration()
        let media = SocketAddress(.loopback, port: 3_478)
        func offered(shared: UInt16?) throws -> [UInt16] {
            let shared = shared.map { SocketAddress(.loopback, port: $0) }
            return try TransportConfiguration(configuration, media: media, shared: shared).tcpAddresses.map(\.port)
        }
        #expect(try offered(shared: nil) == [3_478])
        #expect(try offered(shared: 443) == [3_478, 443])
        #expect(try offered(shared: 3_478) == [3_478], "one number behind a NAT")
        configuration.media.tcp = false
        #expect(try offered(shared: 443) == [443])
        #expect(try offered(shared: nil) == [])
    }

    @Test
    func `its socket is handed over, and taken from whoever has it`() throws {
        let configuration = configuration()
        let former = try Listeners(configuration, workers: 2)
        let handed = former.handedOver.filter { $0.0.kind == .shared }.map(\.1)
        #expect(handed.count == 2)
        let next = try Listeners(configuration, workers: 2) { kind in
            kind == .shared ? GivenSockets(kind, handed, areBinding: false) : nil
        }
        #expect(next.shared.map(\.localAddress) == former.shared.map(\.localAddress))
        #expect(next.addresses.isSuperset(of: former.shared.map(\.localAddress)))
    }
}
