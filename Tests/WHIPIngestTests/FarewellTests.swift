import Refusals
import Settings
import StageHub
import TestSupport
import Testing
import Wire

@testable import WHIPIngest
@testable import WebRTCTransport

@Suite("Peers that come back after the end", .timeLimit(.minutes(10)))
struct FarewellTests {
    @Test func `media that comes after an end by silence is answered by close_notify`() throws {
        let gateway = try TestGateway(workers: 2) { $0.whip.consentTimeout = .seconds(4) }
        defer { gateway.stop() }
        let client = try #require(try TestClient.connected("sleeper", to: gateway))
        client.sendFrame(isKeyframe: true)
        #expect(eventually { gateway.output["sleeper"]?.ended == .connectionLost })
        // What was said at the end is lost with everything else.
        while client.sockets[0].receive(within: 100) != nil {}
        #expect(!client.isClosedByPeer)
        #expect(
            eventually {
                client.sendFrame()
                client.pump(); return client.isClosedByPeer
            })
    }

    /// It would be the last that ffmpeg reads, and ffmpeg would stand still for ever.
    @Test func `ffmpeg is told of no end by close_notify`() throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        let client = try #require(try TestClient.connected("muxer", to: gateway, userAgent: "Lavf/63.1.102"))
        client.sendFrame(isKeyframe: true)
        #expect(eventually { gateway.output["muxer"]?.keyframes == 1 })
        #expect(client.delete(at: gateway) == 200)
        #expect(eventually { gateway.output["muxer"]?.ended != nil })
        client.pump(within: 300)
        #expect(!client.isClosedByPeer)
    }

    @Test func `a session that ended in words has no farewell`() throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        let client = try #require(try TestClient.connected("leaver", to: gateway))
        #expect(client.delete(at: gateway) == 200)
        while client.sockets[0].receive(within: 300) != nil {}
        for _ in 0..<20 { client.sendFrame() }
        #expect(client.sockets[0].receive(within: 300) == nil)
    }
}
