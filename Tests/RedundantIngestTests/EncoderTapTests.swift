import Admission
import EventLoop
import StageHub
import Testing
import Wire

@testable import RedundantIngest

@Suite("An encoder's tap")
struct EncoderTapTests {
    /// Opus of RTMP: 60 ms of 320 kbit/s, and the longest packet that is taken. One left out would count as a loss, behind which
    /// pictures wait for their next keyframe.
    @Test(arguments: [FeedBlock.sizeForSound, 2_400, 8_192])
    func `sound goes over whole, however long`(_ byteCount: Int) {
        let (publication, feed) = Self.makeFeed()
        for _ in 0..<3 { Self.bring(byteCount: byteCount, to: publication) }
        var byteCounts: [Int] = []
        feed.drain { block in
            byteCounts.append(block.byteCount)
            #expect(!block.followsLoss && block.isLast && block.run.track == .audio)
            block.giveBack()
        }
        #expect(byteCounts == [byteCount, byteCount, byteCount])
    }

    @Test func `what became known with a packet that fits into no block goes with the next one`() {
        let (publication, feed) = Self.makeFeed()
        publication.setFormat(.opus(isStereo: true), of: .audio)
        Self.bring(byteCount: FeedBlock.size + 1, to: publication)
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

    private static func makeFeed() -> (Publication, EncoderFeed) {
        let grant = PublishGrant(participantID: "encoder-1", stageARN: "arn:s", stageID: "s", credentialHash: "h")
        let lease = PublishLease(participantID: "encoder-1", stageID: "s", stageSessionID: "st", generation: 1)
        let publication = Publication(grant: grant, lease: lease, ingestProtocol: .rtmp, timeline: Timeline())
        let feed = EncoderFeed(
            encoder: 1, of: publication, joining: ParticipantKey("both", onStage: "s"), to: JoinInbox(wakeUp: .media))
        publication.add(EncoderTap(feed, of: publication))
        return (publication, feed)
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
