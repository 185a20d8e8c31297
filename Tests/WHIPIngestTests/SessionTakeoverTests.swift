import StageHub
import Testing

@testable import WHIPIngest

@Suite("Take-over by a newer session", .timeLimit(.minutes(10)))
struct SessionTakeoverTests {
    @Test func `the newest session takes over once its DTLS is done, and the old one is closed by DTLS`() throws {
        let gateway = try TestGateway(workers: 2)
        defer { gateway.stop() }
        let first = try #require(try TestClient.connected("bob", to: gateway))
        first.sendFrame(isKeyframe: true)
        #expect(eventually { gateway.output["bob"]?.video.count == 2 })
        let second = try TestClient(token: "bob")
        #expect(second.post(to: gateway) == 201)
        #expect(second.connectICE())
        first.sendFrame()
        #expect(eventually { gateway.output["bob"]?.video.count == 3 }, "the incumbent forwards until then")
        #expect(try second.connectDTLS())
        #expect(
            eventually {
                first.pump(); return first.isClosedByPeer
            })
        second.sequenceNumber = 5_000
        second.sendFrame(isKeyframe: true)
        #expect(eventually { gateway.output["bob"]?.video.suffix(2) == [5_000, 5_001] })
        #expect(gateway.leases.liveCount == 1)
    }
}
