import Admission
import StageHub
import Testing
import Wire

@testable import RedundantIngest

@Suite("An encoder's tap")
struct EncoderTapTests {
    /// Opus of RTMP may be longer than any block of sound has room for.
    @Test func `what became known with a packet that fits into no block goes with the next one`() {
        let grant = PublishGrant(participantID: "encoder-1", stageARN: "arn:s", stageID: "s", credentialHash: "h")
        let lease = PublishLease(participantID: "encoder-1", stageID: "s", stageSessionID: "st", generation: 1)
        let publication = Publication(grant: grant, lease: lease, ingestProtocol: .rtmp, timeline: Timeline())
        let feed = EncoderFeed(encoder: 1, of: publication, joining: ParticipantKey("both", onStage: "s"), to: JoinInbox())
        publication.add(EncoderTap(feed, of: publication))
        publication.setFormat(.opus(isStereo: true), of: .audio)
        Self.bring(byteCount: FeedBlock.sizeForSound + 1, to: publication)
        Self.bring(byteCount: 100, to: publication)
        var formats: [TrackFormat?] = []
        var byteCounts: [Int] = []
        feed.drain { block in
            formats += block.news.map(\.format)
            byteCounts.append(block.byteCount)
            #expect(block.followsLoss)
            block.giveBack()
        }
        #expect(formats == [.opus(isStereo: true)] && byteCounts == [100])
    }

    private static func bring(byteCount: Int, to publication: Publication) {
        [UInt8](repeating: 7, count: byteCount).withUnsafeBytes { payload in
            let packets = [MediaPacket(sequenceNumber: 0, timestamp: 0, marker: true, payload: payload)]
            packets.withUnsafeBufferPointer {
                publication.forward($0, of: MediaRun(track: .audio, isKeyframe: false, arrival: .zero))
            }
        }
    }
}
