import EventLoop
import Refusals
import StageHub
import Testing
import WebRTCTransport

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

    @Test func `a session whose worker cannot be told of its lease ends, and gives it back`() throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        let first = try #require(try TestClient.connected("bob", to: gateway))
        let transport = gateway.context.transport
        gateway.leases.beforeTakeover.withLock { told in
            told = { holder in
                guard let entry = holder as? SessionEntry else { return }
                while transport.perform(with: entry, on: 0, { _ in }) {}  // until the worker's mailbox is full
            }
        }
        let second = try TestClient(token: "bob")
        #expect(second.post(to: gateway) == 201)
        #expect(second.connectICE())
        #expect(try second.connectDTLS())
        #expect(
            eventually {
                second.pump(); return second.isClosedByPeer
            })
        #expect(gateway.leases.liveCount == 0)
        withExtendedLifetime(first) {}
    }

    @Test func `who finds no place once it is ready, as its incumbent has left, is reported like any other`() throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        let first = try #require(try TestClient.connected("bob", to: gateway))
        gateway.leases.takeoverRefusal.withLock { $0 = Refusal(.stageFull) }
        let second = try TestClient(token: "bob")
        #expect(second.post(to: gateway) == 201)
        #expect(second.connectICE())
        #expect(try second.connectDTLS())
        #expect(
            eventually {
                second.pump(); return second.isClosedByPeer
            })
        let refusals = gateway.reports.refusals.withLock { $0 }
        #expect(refusals == [.stageFull])
        withExtendedLifetime(first) {}
    }
}
