import Admission
import EventLoop
import Refusals
import Settings
import Testing
import Wire

@testable import Node

@Suite
struct NodeDrainTests {
    private struct Everybody: Authorizer {
        func authorize(_ request: PublishRequest, reply: @escaping @Sendable (Result<PublishGrant, Refusal>) -> Void) {
            reply(.success(PublishGrant(participantID: "p", stageARN: "a", stageID: "s", credentialHash: "h")))
        }
    }

    @Test
    func `whose place is taken waits for a publish that has its grant until that is live or over`() throws {
        let loop = try EventLoop()
        let gate = AdmissionGate(before: Everybody())
        let request = PublishRequest(
            credential: .token(Secret("t")), ingestProtocol: .whip, source: SocketAddress(.loopback, port: 1), userAgent: "")
        gate.authorize(request) { _ in }
        let drain = NodeDrain(
            loop: loop, gate: gate, workers: try WorkerGroup(loop: loop, count: 0),
            settings: DrainSettings(grace: .zero, timeout: .seconds(60), closesPerSecond: 1))
        var hasEnded = false
        drain.outlive { hasEnded = true }

        let isRefusing = loop.run(until: { gate.closure == .draining }, within: .seconds(120))
        #expect(isRefusing && !hasEnded, "its first turn would have been its last")
        request.place.giveBack()
        let isOver = loop.run(until: { hasEnded }, within: .seconds(120))
        #expect(isOver && drain.isOver)
    }
}
