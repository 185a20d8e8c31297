import EventLoop
import GatewayMetrics
import Sockets
import TestSupport
import Testing
import Wire

@testable import WHIPIngest
@testable import WebRTCTransport

@Suite("ICE-TCP (RFC 6544)", .timeLimit(.minutes(10)))
struct ICETCPTests {
    @Test func `a session runs over TCP alone`() throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        let client = try TestClient(token: "tcp")
        client.sockets = [ClientSocket(connectingTo: gateway.tcpAddress(of: 0))]
        #expect(client.post(to: gateway) == 201)
        #expect(client.connectICE())
        #expect(try client.connectDTLS())
        client.sendFrame(isKeyframe: true)
        for _ in 0..<100 { client.sendFrame() }
        #expect(eventually { gateway.output["tcp"]?.video.count == 102 })
        #expect(client.delete(at: gateway) == 200)
        #expect(
            eventually {
                client.pump(); return client.isClosedByPeer
            })
        #expect(client.sockets[0].isClosed(within: 60_000))
    }

    @Test func `a connection moves to the worker that owns its session, with its unread bytes`() throws {
        let gateway = try TestGateway(workers: 2)
        defer { gateway.stop() }
        let client = try #require(try TestClient.connected("mover", to: gateway))
        client.sendFrame(isKeyframe: true)
        #expect(eventually { gateway.output["mover"]?.video.count == 2 })
        let owner = try #require(gateway.output["mover"]?.worker)
        client.sockets.append(ClientSocket(connectingTo: gateway.tcpAddress(of: 1 - owner)))
        client.active = 1
        // The check and the media behind it arrive together.
        client.check(1)
        for _ in 0..<50 { client.sendFrame() }
        #expect(eventually { gateway.output["mover"]?.video.count == 52 })
        #expect(gateway.output["mover"]?.worker == owner)
    }

    @Test func `a connection of a session that ends before DTLS is closed`() throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        let client = try TestClient(token: "early")
        client.sockets = [ClientSocket(connectingTo: gateway.tcpAddress(of: 0))]
        #expect(client.post(to: gateway) == 201)
        #expect(client.connectICE())
        #expect(client.delete(at: gateway) == 200)
        #expect(
            eventually {
                client.pump()
                return client.sockets[0].isClosed(within: 0)
            })
    }

    @Test func `garbage on a connection ends it`() throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        let stranger = ClientSocket(connectingTo: gateway.tcpAddress(of: 0))
        stranger.sendRaw([0xFF, 0xFF] + [UInt8](repeating: 0, count: 100))
        #expect(stranger.isClosed(within: 60_000))
        let chatterbox = ClientSocket(connectingTo: gateway.tcpAddress(of: 0))
        for _ in 0..<3 { chatterbox.sendRaw([0x03, 0xE8] + [UInt8](repeating: 0x80, count: 1_000)) }
        #expect(chatterbox.isClosed(within: 60_000))
    }
}
