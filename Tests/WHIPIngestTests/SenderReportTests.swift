import Admission
import GatewayMetrics
import RTCP
import SDP
import StageHub
import TestSupport
import Testing
import Wire

@testable import WHIPIngest

@Suite("Sender reports of a publisher")
struct SenderReportTests {
    /// OBS' source of sound, that of its video, and that of its video when it began anew.
    private static let sound: UInt32 = 4_005_686_103
    private static let former: UInt32 = 4_005_686_104
    private static let newer: UInt32 = 77

    private let receiver: MediaReceiver
    private let timeline = Timeline()

    init() throws {
        let offer = try AcceptedOffer(negotiating: SessionDescription(parsing: OfferFixture.named("obs-32.2.2-ldc0.21.0").body))
        receiver = MediaReceiver(offer: offer, metrics: WHIPMetrics(MetricsRegistry()))
        let grant = PublishGrant(participantID: "p", stageARN: "arn", stageID: "s", credentialHash: "h")
        let lease = PublishLease(participantID: "p", stageID: "s", stageSessionID: "st", generation: 1)
        let publication = Publication(grant: grant, lease: lease, ingestProtocol: .whip, timeline: timeline)
        receiver.begin(publication, inspector: nil, at: Self.time(0))
    }

    private static func time(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: 9_000_000_000 + milliseconds * 1_000_000)
    }

    private func feed(_ payloadType: UInt8, _ ssrc: UInt32, _ number: UInt16, _ timestamp: Int64, at time: Int64) {
        var writer = ByteWriter()
        writer.write(contentsOf: [0x80, 0x80 | payloadType])
        writer.write(number)
        writer.write(UInt32(timestamp))
        writer.write(ssrc)
        (writer.bytes + [0x41, 1]).withUnsafeBytes { _ = receiver.receive($0, at: Self.time(time)) }
        receiver.handOver()
    }

    private func report(of ssrc: UInt32, _ timestamp: Int64, at time: Int64) {
        let ntp = WallTime(nanosecondsSince1970: 1_700_000_000_000_000_000 + time * 1_000_000).ntp
        var writer = ByteWriter()
        SenderReport(ssrc: ssrc, ntp: ntp, rtpTimestamp: UInt32(timestamp), packetCount: 1, octetCount: 1).write(into: &writer)
        writer.bytes.withUnsafeBytes { receiver.receiveControl($0, at: Self.time(time)) }
    }

    /// Video that has begun anew ten seconds ahead, and is not reported on yet.
    @Test func `one of a source that a newer one has replaced tells nothing of that one's clock`() {
        feed(96, Self.former, 7, 0, at: 0)
        for step in Int64(1)...100 {
            let time = step * 20
            feed(96, Self.newer, UInt16(step), 900_000 + time * 90, at: time)
            feed(111, Self.sound, UInt16(step), time * 48, at: time)
            if step == 2 { report(of: Self.sound, time * 48, at: time) }
            if step == 3 { report(of: Self.former, time * 90, at: time) }
        }
        #expect(timeline.timestamp(of: .audio, at: Self.time(2_000)) == 96_000)
        #expect(timeline.timestamp(of: .video, at: Self.time(2_000)) == 1_080_000)
    }
}
