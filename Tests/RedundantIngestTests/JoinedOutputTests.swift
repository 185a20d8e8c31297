import Admission
import StageHub
import Testing
import Wire

@testable import RedundantIngest

@Suite("Two encoders' output")
struct JoinedOutputTests {
    /// Encoders may send each slice in a message of its own.
    @Test func `a picture that comes in several runs is one frame`() {
        let (encoder, joined) = (Self.makePublication("encoder-1"), Self.makePublication("both"))
        let passage = JoinPassage([encoder], joined: joined)
        for number in 0..<6 as Range<Int64> {
            ([0x41, 0x9A] as [UInt8]).withUnsafeBytes { payload in
                let packets = [
                    MediaPacket(
                        sequenceNumber: number, timestamp: number / 3 * 3_000, marker: number % 3 == 2, payload: payload)
                ]
                let run = MediaRun(track: .video, isKeyframe: number == 0, arrival: MonotonicTime(nanoseconds: 1))
                packets.withUnsafeBufferPointer { encoder.forward($0, of: run) }
            }
        }
        passage.read()
        let counted = joined.counters[.video]
        #expect((counted.packets.value, counted.frames.value) == (6, 2))
    }

    private static func makePublication(_ id: String) -> Publication {
        let grant = PublishGrant(participantID: id, stageARN: "arn:s", stageID: "s", credentialHash: "h")
        let lease = PublishLease(participantID: id, stageID: "s", stageSessionID: "st", generation: 1)
        return Publication(grant: grant, lease: lease, ingestProtocol: .rtmp, timeline: Timeline())
    }
}
