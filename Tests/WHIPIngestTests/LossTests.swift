import StageHub
import GatewayMetrics
import RTCP
import TestSupport
import Testing
import Wire

@testable import WHIPIngest

@Suite("Loss on the way", .timeLimit(.minutes(10)))
struct LossTests {
    /// Percent dropped and reordered, and how many of a thousand must come after all.
    @Test(arguments: [(1, 999), (5, 995), (10, 990)])
    func `requests bring back what the link drops`(_ percent: UInt64, _ perMille: Int) throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        let client = try #require(try TestClient.connected("lossy\(percent)", to: gateway))
        var link = LossyLink(client: client, percent: percent)
        client.sendFrame(isKeyframe: true)
        for index in 0..<1_500 {
            link.sendFrame()
            if index % 4 == 0 { link.answerRequests() }
        }
        client.sendFrame()
        let participant = "lossy\(percent)"
        let wanted = 1_503 * perMille / 1_000
        _ = eventually(within: 30) {
            link.answerRequests()
            return Set(gateway.output[participant]?.video ?? []).count >= 1_503
        }
        let numbers = gateway.output[participant]?.video ?? []
        #expect(numbers.count == Set(numbers).count, "nothing twice")
        #expect(numbers.count >= wanted)
        #expect(link.dropped > 0)
        // Our account agrees with what the link did: what came after being asked for is what it had dropped.
        let recovered = gateway.context.metrics.recovered.value
        let lost = try #require(gateway.output[participant]?.counters).lost.value
        #expect(abs(recovered + lost - link.dropped) <= max(2, link.dropped / 20), "\(recovered) + \(lost) of \(link.dropped)")
    }
}

/// Drops and reorders a client's packets, and answers NACKs with the very bytes sent.
struct LossyLink {
    private let client: TestClient
    private let percent: UInt64
    private var generator: SplitMix64
    private var sent: [UInt16: [UInt8]] = [:]
    private var delayed: [UInt8]?
    private var answered = 0
    private(set) var dropped = 0

    init(client: TestClient, percent: UInt64) {
        (self.client, self.percent) = (client, percent)
        generator = SplitMix64(seed: percent)
    }

    mutating func sendFrame() {
        let number = client.sequenceNumber
        client.sendFrame(skipping: true)
        sent[number] = client.lastPacket
        if generator.next() % 100 < percent {
            dropped += 1
        } else if generator.next() % 100 < percent, delayed == nil {
            delayed = client.lastPacket
            return
        } else {
            client.sendRaw(client.lastPacket)
        }
        if let delayed { client.sendRaw(delayed) }
        delayed = nil
    }

    mutating func answerRequests() {
        client.pump()
        while answered < client.control.count {
            if case .nack(let nack) = client.control[answered] {
                nack.forEachSequenceNumber { number in
                    if let packet = sent[number], generator.next() % 100 >= percent { client.sendRaw(packet) }
                }
            }
            answered += 1
        }
    }
}
