import Admission
import EventLoop
import Refusals
import StageHub

/// One encoder's media on its way from its own worker to the one that joins its participant.
final class EncoderFeed: Sendable {
    /// 1 or 2.
    let encoder: Int
    /// The participant that the stage sees of it.
    let joined: ParticipantKey
    /// The encoder's own, not its participant's.
    let grant: PublishGrant
    let ingestProtocol: IngestProtocol
    let origin: PublishOrigin?
    private let blocks = SingleProducerRing<FeedBlock>(capacity: 2_048)
    private let reader: JoinInbox

    init(encoder: Int, of publication: Publication, joining joined: ParticipantKey, to reader: JoinInbox) {
        (self.encoder, self.joined, self.reader) = (encoder, joined, reader)
        (grant, ingestProtocol, origin) = (publication.grant, publication.ingestProtocol, publication.origin)
    }

    deinit { drain { $0.giveBack() } }

    /// Hands a filled block over. The encoder's worker only.
    func push(_ block: FeedBlock) {
        block.lend()
        if !blocks.push({ _ in block }) { block.giveBack() }  // the ring is larger than both pools: this does not happen
    }

    /// The run is whole. The encoder's worker only.
    func wake() { reader.wake() }

    /// Nothing more comes. The encoder's worker only.
    func end(_ reason: SessionEnd) { reader.send(.ended(self, reason)) }

    /// Takes what waits, in order; whoever takes a block gives it back. The reader only.
    func drain(_ body: (FeedBlock) -> Void) {
        blocks.drain { _, block in
            blocks.release()
            body(block)
        }
    }
}

/// The way into one worker's part of redundant ingest.
typealias JoinInbox = FeedInbox<JoinMessage>

/// What is said to the worker that joins a participant's encoders.
enum JoinMessage: Sendable {
    /// Feeds of yours have blocks.
    case media
    /// An encoder of that participant has begun.
    case began(ParticipantKey, EncoderFeed)
    case ended(EncoderFeed, SessionEnd)
    /// An operator wants this encoder.
    case ordered(ParticipantKey, encoder: Int)
    /// The participant's lease was taken away, the one that its claim of that number brought.
    case leaseEnded(ParticipantKey, claim: Int, LeaseEnd)
}
