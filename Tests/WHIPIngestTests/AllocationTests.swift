import Admission
import GatewayMetrics
import Refusals
import SDP
import StageHub
import TestSupport
import Testing
import Wire

@testable import WHIPIngest

/// A WHIP packet is accounted, inspected and handed on without an allocation once its session has warmed up.
@Suite("Media receiver, allocations", .serialized)
struct AllocationTests {
    private final class CountingSink: MediaSink {
        private(set) var packetCount = 0

        func forward(_ packets: UnsafeBufferPointer<MediaPacket>, of run: MediaRun) { packetCount += packets.count }
        func formatChanged(_ track: TrackID, to format: TrackFormat) {}
        func muteChanged(_ track: TrackID, isMuted: Bool) {}
        func restarted() {}
        func ended(_ reason: SessionEnd) {}
    }

    @Test
    func `a second of packets reaches the hub without an allocation`() throws {
        let offer = try AcceptedOffer(negotiating: SessionDescription(parsing: OfferFixture.named("chromium-156.0.8078.79").body))
        let receiver = MediaReceiver(offer: offer, metrics: WHIPMetrics(MetricsRegistry()))
        let publication = Publication(
            grant: PublishGrant(participantID: "p", stageARN: "arn", stageID: "s", credentialHash: "h"),
            lease: PublishLease(participantID: "p", stageID: "s", stageSessionID: "st", generation: 1), ingestProtocol: .whip,
            timeline: Timeline())
        let sink = CountingSink()
        publication.add(sink)
        receiver.begin(publication, inspector: nil, at: MonotonicTime(nanoseconds: 9_000_000_000))
        let payloadType = offer.video.payloadType
        var packet: [UInt8] =
            [0x80, payloadType, 0, 0, 0, 0, 0, 0, 0, 0, 0, 77] + [0x41] + [UInt8](repeating: 0x9A, count: 1_170)
        var (number, frame) = (UInt16(0), UInt32(0))
        func second() {
            for _ in 0..<30 {
                frame += 1
                let now = MonotonicTime(nanoseconds: 9_000_000_000 + Int64(frame) * 33_333_333)
                for index in 0..<10 {
                    number &+= 1
                    packet[1] = payloadType | (index == 9 ? 0x80 : 0)
                    (packet[2], packet[3]) = (UInt8(number >> 8), UInt8(number & 0xFF))
                    withUnsafeBytes(of: (frame * 3_000).bigEndian) {
                        for (offset, byte) in $0.enumerated() { packet[4 + offset] = byte }
                    }
                    packet.withUnsafeBytes { _ = receiver.receive($0, at: now) }
                }
                receiver.handOver()
            }
        }
        second()
        second()
        let before = sink.packetCount
        let count = try AllocationCounter.count { second() }
        #expect(sink.packetCount - before == 300)
        #expect(count == 0)
    }

    @Test func `a source that says nothing takes no memory, and runs take turns with what they take`() throws {
        let room = RunRoom()
        var tracker: LossTracker?
        var runs = (0..<50).map { _ in GatheredRun(in: room) }
        func gather() {
            for index in runs.indices {
                for number in 0..<60 {
                    let packet = MediaPacket(
                        sequenceNumber: Int64(number), timestamp: 0, marker: false,
                        payload: UnsafeRawBufferPointer(start: nil, count: 0))
                    _ = runs[index].append(packet, of: .video, startsKeyframe: false, at: .zero)
                }
                runs[index].removeAll()
            }
        }
        let first = try AllocationCounter.count { gather() }
        #expect(first < runs.count, "one of them allocates")
        let count = try AllocationCounter.count {
            tracker = LossTracker()
            gather()
        }
        #expect(count == 0)
        #expect(tracker?.missingCount == 0)
    }
}
