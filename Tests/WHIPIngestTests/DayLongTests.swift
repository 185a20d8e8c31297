import Admission
import GatewayMetrics
import Refusals
import SDP
import StageHub
import TestSupport
import Testing
import Wire

@testable import WHIPIngest

/// A stream of 90 packets a second of which one in 997 is lost for good: numbers and times go on over every wrap.
@Suite("Media receiver, a day long", .serialized)
struct DayLongTests {
    private final class Auditor: MediaSink {
        private(set) var packetCount = 0
        private(set) var missing = 0
        private(set) var disorder = 0
        private(set) var first: Int64?
        private(set) var last: (number: Int64, timestamp: Int64)?

        func forward(_ packets: UnsafeBufferPointer<MediaPacket>, of run: MediaRun) {
            for packet in packets {
                if let last {
                    missing += Int(packet.sequenceNumber - last.number) - 1
                    if packet.timestamp < last.timestamp || packet.sequenceNumber <= last.number { disorder += 1 }
                }
                if first == nil { first = packet.timestamp }
                last = (packet.sequenceNumber, packet.timestamp)
                packetCount += 1
            }
        }

        func formatChanged(_ track: TrackID, to format: TrackFormat) {}
        func muteChanged(_ track: TrackID, isMuted: Bool) {}
        func restarted() {}
        func ended(_ reason: SessionEnd) {}
    }

    private final class Rig {
        let auditor = Auditor()
        let publication: Publication
        private(set) var dropped = 0
        private(set) var feedbackBytes = 0
        private let receiver: MediaReceiver
        private var packet: [UInt8]
        /// Both wrap within the first ten minutes.
        private var (number, timestamp) = (UInt16(60_000), UInt32.max - 90_000 * 300)
        private var sent = 0

        init() throws {
            let offer = try AcceptedOffer(
                negotiating: SessionDescription(parsing: OfferFixture.named("chromium-156.0.8078.79").body))
            receiver = MediaReceiver(offer: offer, metrics: WHIPMetrics(MetricsRegistry()))
            let lease = PublishLease(participantID: "p", stageID: "s", stageSessionID: "st", generation: 1)
            publication = Publication(
                grant: PublishGrant(participantID: "p", stageARN: "arn", stageID: "s", credentialHash: "h"), lease: lease,
                ingestProtocol: .whip, timeline: Timeline())
            publication.add(auditor)
            packet = [0x80, offer.video.payloadType, 0, 0, 0, 0, 0, 0, 0, 0, 0, 77, 0x41] + [UInt8](repeating: 0x9A, count: 99)
            receiver.begin(publication, inspector: nil, at: moment(0))
        }

        /// The encoder's clock goes 100 ppm fast.
        func moment(_ frame: Int) -> MonotonicTime {
            MonotonicTime(nanoseconds: 9_000_000_000 + Int64(frame) * (33_333_333 - 3_333))
        }

        func play(second: Int) {
            for frame in (second * 30)..<(second * 30 + 30) {
                let now = moment(frame)
                for part in 0..<3 { send(isLast: part == 2, at: now) }
                receiver.handOver()
                timestamp &+= 3_000
                if frame % 3 == 0 { feedbackBytes += receiver.feedback(at: now).reduce(0) { $0 + $1.count } }
            }
        }

        private func send(isLast: Bool, at now: MonotonicTime) {
            (sent, number) = (sent + 1, number &+ 1)
            // The end of a frame always comes, so that the last packet says where the stream is.
            if sent % 997 == 0, !isLast { return dropped += 1 }
            packet[1] = packet[1] & 0x7F | (isLast ? 0x80 : 0)
            (packet[2], packet[3]) = (UInt8(number >> 8), UInt8(number & 0xFF))
            for byte in 0..<4 { packet[4 + byte] = UInt8(truncatingIfNeeded: timestamp >> (24 - 8 * UInt32(byte))) }
            packet.withUnsafeBytes { _ = receiver.receive($0, at: now) }
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `numbers and times go on over every wrap, gaps stay gaps, and no byte is kept`() throws {
        let rig = try Rig()
        var resident = 0
        for second in 0..<SimulatedDay.seconds {
            rig.play(second: second)
            if second == 30 { resident = SimulatedDay.residentBytes }
            guard second % 60 == 59 else { continue }
            let last = try #require(rig.auditor.last)
            let shown = try #require(rig.publication.timeline.timestamp(of: .video, at: rig.moment(second * 30 + 29)))
            #expect(abs(shown - last.timestamp) < 90 * 60, "the present moment and the last packet after \(second) s")
        }
        let (auditor, seconds) = (rig.auditor, SimulatedDay.seconds)
        let growth = SimulatedDay.residentBytes - resident
        print("\(seconds) simulated seconds: \(auditor.packetCount) packets, \(rig.dropped) lost, memory grew by \(growth) bytes")
        #expect(auditor.disorder == 0)
        #expect(auditor.packetCount == seconds * 90 - rig.dropped)
        #expect(auditor.missing == rig.dropped && rig.dropped > 0)
        #expect(try #require(auditor.last).timestamp - #require(auditor.first) == Int64(seconds * 30 - 1) * 3_000)
        #expect(rig.feedbackBytes > 0)
        // Memory is the whole process': in `make soak` nothing else runs in it.
        if SimulatedDay.isWhole { #expect(growth < 1 << 20) }
    }
}
