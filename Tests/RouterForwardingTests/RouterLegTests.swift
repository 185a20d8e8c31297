import Admission
import EventLoop
import GatewayMetrics
import RTCP
import RTP
import Refusals
import SRTP
import Sockets
import StageHub
import TestSupport
import Testing
import Wire

@testable import RouterForwarding

@Suite("Router leg on real sockets", .timeLimit(.minutes(10)))
struct RouterLegTests {
    @Test func `keeps the GOP until the router is known, then forwards with its own numbers`() throws {
        let bench = try Bench()
        bench.publish(1, isKeyframe: true)
        bench.publish(2)
        bench.publish(10, isKeyframe: true, count: 100)
        bench.publish(112)
        bench.leg?.open(bench.plan)
        bench.publish(113)
        #expect(bench.wait { bench.packets.count == 102 })
        let first = try #require(bench.packets.first).header
        #expect(bench.packets.map { $0.header.sequenceNumber &- first.sequenceNumber } == Array(0..<100) + [102, 103])
        #expect(bench.packets.allSatisfy { $0.header.ssrc == 77 && $0.header.payloadType == 96 })
        #expect(bench.packets[101].header.timestamp &- first.timestamp == 103 * 3000)
        #expect(bench.packets[99].header.marker)
        #expect(bench.keyframeRequests == 0)
    }

    @Test func `latency is that of packets that have left, at the turn's end`() throws {
        let metrics = RouterMetrics(MetricsRegistry(), routers: [])
        let bench = try Bench(metrics: metrics)
        bench.leg?.open(bench.plan)
        func measured() -> Int? { metrics.latency.snapshot.cumulativeCounts.last }
        var inTurn: Int?
        bench.loop.inTurn {
            bench.publish(1, isKeyframe: true)
            inTurn = measured()
        }
        #expect(bench.wait { bench.packets.count == 1 })
        #expect(inTurn == 0 && measured() == 1)
    }

    @Test func `reports at once, every second, and says goodbye`() throws {
        let bench = try Bench()
        bench.leg?.open(bench.plan)
        #expect(bench.keyframeRequests == 1)
        bench.publish(1, isKeyframe: true)
        #expect(bench.wait { bench.control.count >= 4 })
        guard case .senderReport(let first) = bench.control[0], case .senderReport(let second) = bench.control[2] else {
            Issue.record("no sender reports")
            return
        }
        #expect(bench.control[1] == .sourceDescription(SourceDescription(chunks: [.init(ssrc: 77, cname: "p")])))
        let passed = Double(second.ntp - first.ntp) / 4_294_967_296
        #expect(abs(Double(second.rtpTimestamp &- first.rtpTimestamp) / 90_000 - passed) < 0.001)
        #expect(second.packetCount == 1 && second.octetCount == 500)
        bench.publication.end(.closed)
        #expect(bench.wait { bench.control.contains(.goodbye(Goodbye(ssrcs: [77]))) })
    }

    @Test func `takes feedback from where its media goes, and from nowhere else`() throws {
        let bench = try Bench()
        bench.publish(1, isKeyframe: true)
        bench.leg?.open(bench.plan)
        #expect(bench.wait { bench.from != nil })
        let stranger = try UDPSocket(loop: bench.loop, address: SocketAddress(.loopback, port: 0))
        let request = RTCPPacket.pictureLoss(PictureLossIndication(senderSSRC: 1, mediaSSRC: 77))
        bench.send(request, through: stranger)
        bench.send(.pictureLoss(PictureLossIndication(senderSSRC: 1, mediaSSRC: 78)), through: bench.reports)
        #expect(bench.wait { bench.socket.feedback.foreign == 2 })
        #expect(bench.keyframeRequests == 0)
        bench.send(request, through: bench.reports)
        bench.send(request, through: bench.receiver)
        let limit = ReceiverEstimatedMaximumBitrate(senderSSRC: 1, bitsPerSecond: 1_000_000, ssrcs: [77])
        bench.send(.bitrateLimit(limit), through: bench.reports)
        bench.reports.send([1, 2, 3], to: bench.socket.localAddress)
        #expect(bench.wait { bench.socket.feedback.accepted == 3 && bench.socket.feedback.malformed == 1 })
        #expect(bench.keyframeRequests == 1)
        #expect(bench.limit == 1_000_000)
    }

    @Test func `the encoder is told the least of its routers' limits, once`() throws {
        let bench = try Bench()
        let other = RouterLeg(publication: bench.publication, socket: bench.socket)
        bench.publication.add(other)
        let leg = try #require(bench.leg)
        bench.publication.limitBitrate(2_000_000, for: leg)
        bench.publication.limitBitrate(1_000_000, for: other)
        bench.publication.limitBitrate(nil, for: leg)
        #expect(bench.limit == 1_000_000)
        bench.publication.limitBitrate(3_000_000, for: leg)
        bench.publication.remove(other)
        #expect(bench.limit == 3_000_000)
        bench.publication.limitBitrate(nil, for: leg)
        #expect(bench.limit == .some(.none))
    }

    /// Its stage may find no other one for a while, and the encoder has other receivers.
    @Test func `a router that is left limits the encoder no more`() throws {
        let bench = try Bench()
        bench.publish(1, isKeyframe: true)
        bench.leg?.open(bench.plan)
        #expect(bench.wait { bench.from != nil })
        let limit = ReceiverEstimatedMaximumBitrate(senderSSRC: 1, bitsPerSecond: 1_000_000, ssrcs: [77])
        bench.send(.bitrateLimit(limit), through: bench.reports)
        #expect(bench.wait { bench.limit == 1_000_000 })
        bench.leg?.close()
        #expect(bench.limit == .some(.none))
    }

    @Test func `another publisher goes on behind the highest number`() throws {
        let bench = try Bench()
        bench.leg?.open(bench.plan)
        bench.publish(50_000, isKeyframe: true)
        bench.leg?.restarted()
        bench.publish(3, isKeyframe: true)
        #expect(bench.wait { bench.packets.count == 2 })
        #expect(bench.packets[1].header.sequenceNumber &- bench.packets[0].header.sequenceNumber == 1)
        #expect(bench.keyframeRequests == 2)
    }

    @Test(arguments: [true, false])
    func `what timestamps mean is told anew where they begin anew`(_ isTold: Bool) throws {
        let bench = try Bench()
        bench.leg?.open(bench.plan)
        bench.publish(50_000, isKeyframe: true)
        // Also by itself: numbers jump.
        bench.publication.timeline.restart()
        if isTold { bench.publication.restarted() }
        bench.publish(3, isKeyframe: true)
        #expect(bench.wait { bench.packets.count == 2 && bench.control.count >= 4 })
        guard case .senderReport(let first) = bench.control[0], case .senderReport(let second) = bench.control[2] else {
            Issue.record("no sender reports")
            return
        }
        #expect(first.ntp == second.ntp, "all of it in one turn of the loop")
        #expect(first.rtpTimestamp == bench.packets[0].header.timestamp)
        #expect(second.rtpTimestamp == bench.packets[1].header.timestamp)
    }

    @Test func `answers NACKs with the very bytes sent, as long as they are fresh`() throws {
        // Again where the machine stood still until they were not.
        #expect(try (0..<20).contains { _ in try answersWhileFresh() })
    }

    private func answersWhileFresh() throws -> Bool {
        let bench = try Bench()
        var plan = bench.plan
        plan.tracks[0].isNACKed = true
        plan.keys = .random(.aeadAES128GCM)
        plan.feedbackKeys = .random(.aeadAES128GCM)
        bench.leg?.open(plan)
        bench.publish(1, isKeyframe: true, count: 5, size: 800)
        #expect(bench.wait { bench.packets.count == 5 })
        #expect(bench.packets[0].bytes.count == 12 + 800 + 16)
        let missed = [1, 3, 4].map { bench.packets[$0].header.sequenceNumber }
        let router = try LegProtection(#require(plan.feedbackKeys), feedback: nil)
        func nack() throws {
            var writer = ByteWriter()
            GenericNACK(senderSSRC: 1, mediaSSRC: 77, sequenceNumbers: missed + [missed[2] &+ 100]).write(into: &writer)
            bench.receiver.send(try #require(router.protect(control: writer.bytes)), to: bench.socket.localAddress)
        }
        try nack()
        #expect(bench.wait { bench.socket.feedback.accepted == 1 })
        guard bench.comes(8) else { return false }
        #expect(bench.packets[5...].map(\.bytes) == [1, 3, 4].map { bench.packets[$0].bytes })
        _ = bench.loop.run(until: { false }, within: .milliseconds(300))
        try nack()
        #expect(bench.wait { bench.socket.feedback.accepted == 2 })
        _ = bench.loop.run(until: { false }, within: .milliseconds(50))
        return bench.packets.count == 8
    }

    @Test func `feedback that is not genuine SRTCP is not heard`() throws {
        let bench = try Bench()
        var plan = bench.plan
        plan.keys = .random(.aes128CMSHA1_80)
        plan.feedbackKeys = .random(.aes128CMSHA1_80)
        bench.leg?.open(plan)
        bench.publish(1, isKeyframe: true)
        #expect(bench.wait { bench.from != nil })
        bench.send(.pictureLoss(PictureLossIndication(senderSSRC: 1, mediaSSRC: 77)), through: bench.receiver)
        #expect(bench.wait { bench.socket.feedback.malformed == 1 })
        #expect(bench.keyframeRequests == 1, "the one that opening asked for")
    }

    @Test func `a leg that moves begins with a keyframe, or after two seconds without any`() throws {
        let bench = try Bench()
        var plan = bench.plan
        bench.leg?.open(plan)
        bench.publish(0, isKeyframe: true)
        bench.publish(1)
        #expect(bench.wait { bench.packets.count == 2 })
        func move(to ssrc: UInt32) {
            bench.leg?.close()
            plan.tracks[0].ssrc = ssrc
            bench.leg?.open(plan)
        }
        move(to: 78)
        for number in 2..<5 { bench.publish(Int64(number)) }
        bench.publish(5, isKeyframe: true)
        bench.publish(6)
        #expect(bench.wait { bench.packets.count == 4 })
        move(to: 79)
        bench.publish(7)
        _ = bench.loop.run(until: { false }, within: RouterLeg.keyframePatience)
        bench.publish(8)
        #expect(bench.wait { bench.packets.count == 5 })
        #expect(bench.packets.map { $0.bytes[12] } == [0, 1, 5, 6, 8])
        #expect(bench.packets.map(\.header.ssrc) == [77, 77, 78, 78, 79])
    }

    @Test func `a new announce has its own numbers, and late feedback about the old one is foreign`() throws {
        let bench = try Bench()
        bench.leg?.open(bench.plan)
        bench.publish(1, isKeyframe: true)
        #expect(bench.wait { bench.from != nil })
        bench.leg?.close()
        bench.publish(2, isKeyframe: true)
        var plan = bench.plan
        plan.tracks[0].ssrc = 99
        bench.leg?.open(plan)
        #expect(bench.wait { bench.packets.count == 2 })
        #expect(bench.packets.map(\.header.ssrc) == [77, 99])
        bench.send(.pictureLoss(PictureLossIndication(senderSSRC: 1, mediaSSRC: 77)), through: bench.reports)
        #expect(bench.wait { bench.socket.feedback.foreign == 1 })
    }
}
