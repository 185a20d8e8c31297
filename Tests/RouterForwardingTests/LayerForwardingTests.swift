import EventLoop
import RTCP
import RTP
import StageHub
import Testing
import Wire

@testable import RouterForwarding

/// Which layers a router gets, and when.
@Suite("Layers to a router, on real sockets", .timeLimit(.minutes(10)))
struct LayerForwardingTests {
    private static let layers = (0..<3).map { TrackID(.video, layer: UInt8($0)) }

    /// Whose a packet is, by the first byte of its payload.
    private func sent(_ bench: Bench) -> [UInt8] { bench.packets.map { $0.bytes[12] } }

    @Test(arguments: [0, 4_000_000_000] as [Int64])
    func `over a thousand switches numbers and timestamps go on without a gap`(_ clock: Int64) throws {
        let bench = try Bench()
        let start = bench.loop.now
        bench.setSizes(640, 320, at: start)
        // Both layers' clocks are known before the first change.
        for layer in [1, 0] as [UInt8] {
            bench.publish(0, layer: layer, isKeyframe: true, clock: clock * Int64(layer), from: start)
        }
        bench.leg?.open(bench.plan)
        for frame in 1...1_000 as ClosedRange<Int64> {
            // More at one moment than a receiver takes would be queued, and dropped where this process rests for long.
            if frame % 30 == 0 { _ = bench.loop.run(until: { false }, within: .milliseconds(10)) }
            bench.setSizes(frame % 2 == 0 ? 640 : 160, 320, at: start)
            for layer in frame % 2 == 0 ? [0, 1] : [1, 0] as [UInt8] {
                bench.publish(frame, layer: layer, isKeyframe: true, clock: clock * Int64(layer), from: start)
            }
            try #require(bench.wait { bench.packets.count == frame + 1 })
        }
        #expect(sent(bench) == (0...1_000).map { UInt8($0 % 2) })
        for (before, after) in zip(bench.packets, bench.packets.dropFirst()) {
            #expect(after.header.sequenceNumber &- before.header.sequenceNumber == 1)
            let step = Int32(bitPattern: after.header.timestamp &- before.header.timestamp)
            #expect(abs(step - 3000) <= 1)
        }
    }

    @Test func `when the best layer dies the next one begins at its keyframe, and the best comes back`() throws {
        let bench = try Bench()
        let start = bench.loop.now
        bench.setSizes(1280, 640, 320, at: start)
        bench.leg?.open(bench.plan)
        for layer in 0...2 as ClosedRange<UInt8> { bench.publish(0, layer: layer, isKeyframe: true, from: start) }
        bench.requested = []
        // 31 frames of silence are more than a second.
        for frame in 1...40 as ClosedRange<Int64> {
            for layer in 1...2 as ClosedRange<UInt8> { bench.publish(frame, layer: layer, from: start) }
        }
        #expect(Set(bench.requested) == [Self.layers[1]], "the next best is asked, the others are left alone")
        bench.publish(41, layer: 2, isKeyframe: true, from: start)
        bench.publish(41, layer: 1, isKeyframe: true, from: start)
        bench.publish(42, layer: 1, from: start)
        for layer in 0...1 as ClosedRange<UInt8> { bench.publish(43, layer: layer, from: start) }
        bench.publish(44, layer: 0, isKeyframe: true, from: start)
        bench.publish(44, layer: 1, from: start)
        try #require(bench.wait { bench.packets.count >= 5 })
        #expect(bench.packets.map { [$0.bytes[12], $0.bytes[13]] } == [[0, 0], [1, 41], [1, 42], [1, 43], [0, 44]])
        let numbers = bench.packets.map(\.header.sequenceNumber)
        #expect(numbers.map { $0 &- numbers[0] } == [0, 1, 2, 3, 4])
    }

    @Test func `with one layer left, and then none, sound and the leg go on`() throws {
        let bench = try Bench()
        let start = bench.loop.now
        bench.setSizes(1280, 640, at: start)
        bench.leg?.open(bench.planWithSound)
        func isActive() -> [Bool] { bench.publication.layers.map(\.isActive) }
        for layer in 0...1 as ClosedRange<UInt8> { bench.publish(0, layer: layer, isKeyframe: true, from: start) }
        // 31 frames of silence are more than a second.
        for frame in 1...41 as ClosedRange<Int64> { bench.publish(frame, layer: 1, isKeyframe: frame == 41, from: start) }
        #expect(isActive() == [false, true])
        bench.publication.tick(at: start + .seconds(5))
        #expect(isActive() == [false, false])
        bench.publishSound(250, from: start)
        for layer in 0...1 as ClosedRange<UInt8> { bench.publish(200, layer: layer, isKeyframe: true, from: start) }
        try #require(bench.wait { bench.packets.count == 4 })
        #expect(sent(bench) == [0, 1, 9, 0])
    }

    @Test func `the gate keeps each layer's latest GOP, and hands out those that are taken`() throws {
        for isLayered in [false, true] {
            let bench = try Bench()
            let start = bench.loop.now
            bench.setSizes(1280, 640, 320, at: start)
            bench.publish(0, layer: 0, from: start)  // its keyframe was missed
            bench.publish(0, layer: 1, isKeyframe: true, from: start)
            bench.publish(1, layer: 2, isKeyframe: true, from: start)
            bench.publish(1, layer: 1, from: start)
            bench.publish(2, layer: 2, isKeyframe: true, from: start)
            bench.leg?.open(isLayered ? bench.layeredPlan() : bench.plan)
            let expected: [[UInt8]] = isLayered ? [[1, 0], [1, 1], [2, 2]] : [[1, 0], [1, 1]]
            try #require(bench.wait { bench.packets.count == expected.count })
            #expect(bench.packets.map { [$0.bytes[12], $0.bytes[13]] } == expected)
            #expect(bench.requested.contains(Self.layers[0]), "what the gate did not hold is asked for")
            bench.publish(3, layer: 0, isKeyframe: true, from: start)
            try #require(bench.wait { bench.packets.count == expected.count + 1 })
            #expect(bench.packets.last?.bytes[12] == 0, "the best takes over at its keyframe")
        }
    }

    @Test func `a router that takes layers gets each under its SSRC, on one clock, with its name`() throws {
        let bench = try Bench()
        let start = bench.loop.now
        var plan = bench.layeredPlan()
        for (index, rid) in ["hi", "mid", "low"].enumerated() {
            plan.tracks[index].headerExtension = HeaderExtensions.oneByte([(1, Array("0".utf8)), (2, Array(rid.utf8))])
        }
        bench.leg?.open(plan)
        for frame in 0...3 as ClosedRange<Int64> {
            for layer in 0...2 as ClosedRange<UInt8> {
                bench.publish(frame, layer: layer, isKeyframe: frame == 0, clock: Int64(layer) * 77_000_000, from: start)
            }
        }
        try #require(bench.wait { bench.packets.count == 12 })
        for (index, packet) in bench.packets.enumerated() {
            #expect(packet.header.ssrc == 70 + UInt32(index % 3))
            let extensions = try #require(packet.header.extensions)
            let rid = extensions.range(of: 2, in: packet.bytes.span.bytes) ?? 0..<0
            #expect(String(decoding: packet.bytes[rid], as: UTF8.self) == ["hi", "mid", "low"][index % 3])
            #expect(packet.bytes[packet.header.byteCount] == UInt8(index % 3))
            #expect(packet.header.timestamp &- bench.packets[0].header.timestamp == UInt32(index / 3 * 3000))
        }
    }

    @Test func `a layer's keyframe is asked of it alone, twice a second at most, from Janus of all`() throws {
        let bench = try Bench()
        let start = bench.loop.now
        var plan = bench.layeredPlan()
        bench.leg?.open(plan)
        for layer in 0...2 as ClosedRange<UInt8> { bench.publish(0, layer: layer, isKeyframe: true, from: start) }
        try #require(bench.wait { bench.from != nil })
        func storm(_ ssrc: UInt32) {
            let before = bench.socket.feedback.accepted
            for _ in 0..<50 {
                bench.send(.pictureLoss(PictureLossIndication(senderSSRC: 1, mediaSSRC: ssrc)), through: bench.reports)
            }
            #expect(bench.wait { bench.socket.feedback.accepted == before + 50 })
        }
        bench.requested = []
        storm(71)
        #expect(bench.requested == [Self.layers[1]])
        storm(70)
        #expect(bench.requested == [Self.layers[1], Self.layers[0]])
        bench.leg?.close()
        plan.asksForAllLayers = true
        bench.leg?.open(plan)
        bench.requested = []
        storm(70)
        #expect(Set(bench.requested) == Set(Self.layers) && bench.requested.count == 3)
    }

    @Test func `a paused layer is not sent, is told so, and goes on at its keyframe where it stopped`() throws {
        let bench = try Bench()
        let start = bench.loop.now
        var plan = bench.layeredPlan()
        plan.tracks[2].isPaused = true
        bench.leg?.open(plan)
        for layer in 0...2 as ClosedRange<UInt8> { bench.publish(0, layer: layer, isKeyframe: true, from: start) }
        try #require(bench.wait { bench.packets.count == 2 && bench.from != nil })
        func ask(_ kind: StreamPauseFeedback.Kind, _ ssrc: UInt32, _ pauseID: UInt16) {
            let before = bench.socket.feedback.accepted
            let entry = StreamPauseFeedback.Entry(ssrc: ssrc, kind: kind, pauseID: pauseID)
            bench.send(.pause(StreamPauseFeedback(senderSSRC: 1, entries: [entry])), through: bench.reports)
            #expect(bench.wait { bench.socket.feedback.accepted == before + 1 })
        }
        ask(.pause, 70, 0)
        let last = UInt16(bench.packets[0].header.sequenceNumber)
        let paused = StreamPauseFeedback.Entry(ssrc: 70, kind: .paused(highestSequenceNumber: UInt32(last)), pauseID: 0)
        try #require(bench.wait { bench.control.contains(.pause(StreamPauseFeedback(senderSSRC: 70, entries: [paused]))) })
        for frame in 1...5_000 as ClosedRange<Int64> where frame % 50 == 1 {
            bench.publish(frame, layer: 0, isKeyframe: true, from: start)
        }
        bench.requested = []
        ask(.resume, 70, 0)
        ask(.resume, 72, 0)
        // Asked for again where a second has passed meanwhile.
        #expect(Set(bench.requested) == [Self.layers[0], Self.layers[2]])
        ask(.pause, 70, 0)  // late, from before its RESUME
        bench.publish(5_000, layer: 0, from: start)
        for layer in [0, 2] as [UInt8] { bench.publish(5_001, layer: layer, isKeyframe: true, from: start) }
        try #require(bench.wait { bench.packets.count == 4 })
        #expect(bench.packets[2].header.ssrc == 70 && bench.packets[3].header.ssrc == 72)
        #expect(bench.packets[2].header.sequenceNumber == last &+ 1)
        #expect(bench.packets[2].header.timestamp &- bench.packets[0].header.timestamp == 5_001 * 3000)
    }

    /// RFC 7728 §8.2 with erratum 5540: routers ask until they are answered.
    @Test func `a layer that has sent nothing yet is paused with an answer, and begins behind the number told`() throws {
        let bench = try Bench()
        let start = bench.loop.now
        bench.leg?.open(bench.layeredPlan(2))
        bench.publish(0, layer: 0, isKeyframe: true, from: start)
        try #require(bench.wait { bench.from != nil })
        func ask(_ kind: StreamPauseFeedback.Kind) {
            let before = bench.socket.feedback.accepted
            let entry = StreamPauseFeedback.Entry(ssrc: 71, kind: kind, pauseID: 0)
            bench.send(.pause(StreamPauseFeedback(senderSSRC: 1, entries: [entry])), through: bench.reports)
            #expect(bench.wait { bench.socket.feedback.accepted == before + 1 })
        }
        var told: UInt32? {
            for case .pause(let feedback) in bench.control {
                if case .paused(let number)? = feedback.entries.first?.kind { return number }
            }
            return nil
        }
        ask(.pause)
        try #require(bench.wait { told != nil })
        ask(.resume)
        bench.publish(1, layer: 1, isKeyframe: true, from: start)
        try #require(bench.wait { bench.packets.count == 2 })
        let last = try #require(told)
        let first = bench.packets[1].header
        #expect(first.ssrc == 71 && first.sequenceNumber == UInt16(truncatingIfNeeded: last) &+ 1)
    }

    @Test func `a PAUSE that is said many times at once is answered once, and media earns answers without NACKs`() throws {
        let bench = try Bench()
        let start = bench.loop.now
        bench.leg?.open(bench.layeredPlan(1))
        bench.publish(0, layer: 0, isKeyframe: true, from: start)
        try #require(bench.wait { bench.from != nil })
        func ask(_ kind: StreamPauseFeedback.Kind, _ pauseID: UInt16, times: Int = 1) {
            let before = bench.socket.feedback.accepted
            let entry = StreamPauseFeedback.Entry(ssrc: 70, kind: kind, pauseID: pauseID)
            let entries = Array(repeating: entry, count: times)
            bench.send(.pause(StreamPauseFeedback(senderSSRC: 1, entries: entries)), through: bench.reports)
            #expect(bench.wait { bench.socket.feedback.accepted == before + 1 })
        }
        var answers: [UInt16] {
            bench.control.compactMap { if case .pause(let feedback) = $0 { feedback.entries.first?.pauseID } else { nil } }
        }
        // More than what may be answered before anything was earned.
        let rounds = UInt16(FeedbackBounds.retransmissionAllowance / FeedbackBounds.pausedByteCount + 10)
        for round in 0..<rounds {
            ask(.pause, round, times: round == 0 ? 180 : 1)
            try #require(bench.wait { answers.last == round })
            ask(.resume, round)
            bench.publish(Int64(round) + 1, layer: 0, isKeyframe: true, from: start)
        }
        #expect(answers == Array(0..<rounds))
    }

    @Test func `a track that goes out as one is not paused by anybody`() throws {
        let bench = try Bench()
        bench.leg?.open(bench.plan)
        bench.publish(1, isKeyframe: true)
        try #require(bench.wait { bench.from != nil })
        let entry = StreamPauseFeedback.Entry(ssrc: 77, kind: .pause, pauseID: 0)
        bench.send(.pause(StreamPauseFeedback(senderSSRC: 1, entries: [entry])), through: bench.reports)
        try #require(bench.wait { bench.socket.feedback.accepted == 1 })
        bench.publish(2)
        try #require(bench.wait { bench.packets.count == 2 })
    }

    @Test func `a limit counts that is about all layers`() throws {
        let bench = try Bench()
        bench.leg?.open(bench.layeredPlan())
        bench.publish(0, layer: 0, isKeyframe: true, from: bench.loop.now)
        try #require(bench.wait { bench.from != nil })
        for (ssrcs, count) in [([71], 1), ([70, 71, 72], 2)] as [([UInt32], Int)] {
            #expect(bench.limit == nil)
            let limit = ReceiverEstimatedMaximumBitrate(senderSSRC: 1, bitsPerSecond: 1_000_000, ssrcs: ssrcs)
            bench.send(.bitrateLimit(limit), through: bench.reports)
            try #require(bench.wait { bench.socket.feedback.accepted == count })
        }
        #expect(bench.limit == 1_000_000)
    }

    @Test func `what is missed of a layer comes from its own ring`() throws {
        // Again where the machine stood still until what was missed was forgotten.
        #expect(try (0..<20).contains { _ in try comesFromItsOwnRing() })
    }

    private func comesFromItsOwnRing() throws -> Bool {
        let bench = try Bench()
        let start = bench.loop.now
        var plan = bench.layeredPlan()
        for index in plan.tracks.indices { plan.tracks[index].isNACKed = true }
        bench.leg?.open(plan)
        for layer in 0...2 as ClosedRange<UInt8> { bench.publish(0, layer: layer, isKeyframe: true, from: start) }
        try #require(bench.wait { bench.packets.count == 3 && bench.from != nil })
        let missed = bench.packets[1]
        let nack = GenericNACK(senderSSRC: 1, mediaSSRC: 71, sequenceNumbers: [missed.header.sequenceNumber])
        bench.send(.nack(nack), through: bench.reports)
        try #require(bench.wait { bench.socket.feedback.accepted == 1 })
        return bench.comes(4) && bench.packets[3].bytes == missed.bytes
    }
}
