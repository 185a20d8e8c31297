import Refusals
import Settings
import StageHub
import TestSupport
import Testing
import Wire

@testable import WHIPIngest
@testable import WebRTCTransport

@Suite("Peers that come back after the end", .timeLimit(.minutes(5)))
struct FarewellTests {
    private static func key(_ port: UInt16) -> TupleKey { MediaPath(remote: SocketAddress(.loopback, port: port)).key }

    @Test func `media that comes after an end by silence is answered by close_notify`() throws {
        let gateway = try TestGateway(workers: 2) { $0.whip.consentTimeout = .seconds(1) }
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

    @Test func `a session that ended in words has no farewell`() throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        let client = try #require(try TestClient.connected("leaver", to: gateway))
        #expect(client.delete(at: gateway) == 200)
        while client.sockets[0].receive(within: 300) != nil {}
        for _ in 0..<20 { client.sendFrame() }
        #expect(client.sockets[0].receive(within: 300) == nil)
    }

    @Test func `an answer a second, five in all, for a minute`() {
        var farewells = Farewells()
        let clock = FakeClock()
        farewells.add((0..<9).map { [UInt8($0)] }, for: Self.key(1), at: clock.now)
        #expect(farewells.answer(Self.key(2), at: clock.now) == nil)
        var answers: [UInt8] = []
        for _ in 0..<10_000 {
            if let record = farewells.answer(Self.key(1), at: clock.now) { answers += record }
            clock.advance(by: .milliseconds(1))
        }
        #expect(answers == [0, 1, 2, 3, 4])
        farewells.add([[7]], for: Self.key(1), at: clock.now)
        clock.advance(by: .seconds(60))
        #expect(farewells.answer(Self.key(1), at: clock.now) == nil && farewells.count == 0)
    }

    @Test func `when there are too many the oldest goes`() {
        var farewells = Farewells()
        let clock = FakeClock()
        for port in 0..<UInt16(3_000) {
            farewells.add([[1]], for: Self.key(port), at: clock.now)
            clock.advance(by: .milliseconds(1))
        }
        #expect(farewells.count == Farewells.maximumCount)
        #expect(farewells.answer(Self.key(2_999), at: clock.now) != nil && farewells.answer(Self.key(0), at: clock.now) == nil)
        clock.advance(by: .seconds(60))
        farewells.add([[1]], for: Self.key(0), at: clock.now)
        #expect(farewells.count == 1)
    }
}
