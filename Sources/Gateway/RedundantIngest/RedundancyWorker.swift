import Admission
public import EventLoop
import Refusals
public import StageHub
import Wire

/// One worker's part of redundant ingest: taps of the encoders it has, and the participants that it joins. Confined to its loop.
public final class RedundancyWorker {
    let desk: RedundancyDesk
    let loop: EventLoop
    let index: Int
    let claims: JoinedClaim.Environment
    /// Lets the stage see a joined participant.
    let show: (Publication) -> Void
    private var mailbox: Mailbox<JoinMessage>?
    private var joined: [ParticipantKey: JoinedParticipant] = [:]

    /// - Parameters:
    ///   - index: the worker's.
    ///   - show: called with each publication that is made of two encoders' media.
    /// - Throws: when the kernel gives no more descriptors.
    public init(
        loop: EventLoop, index: Int, desk: RedundancyDesk, show: @escaping (Publication) -> Void
    ) throws(SystemError) {
        (self.loop, self.index, self.desk, self.show) = (loop, index, desk, show)
        claims = JoinedClaim.Environment(leases: desk.leases, replies: try ReplyBox(loop: loop), loop: loop)
        let mailbox = try Mailbox<JoinMessage>(loop: loop, priority: .media) { [unowned self] in receive($0) }
        self.mailbox = mailbox
        desk.inboxes[index].open(mailbox.sender)
    }

    /// An encoder of this worker publishes; the stage sees it as one of two.
    /// - Returns: false for one that is alone: it is for the stage to see as it is.
    public func publishBegan(_ publication: Publication) -> Bool {
        guard case .encoder(let number, let id) = publication.grant.redundancy else { return false }
        let key = ParticipantKey(id, onStage: publication.grant.stageID)
        let home = desk.inboxes[desk.enter(key, from: index)]
        let feed = EncoderFeed(encoder: number, of: publication, joining: key, to: home)
        home.send(.began(key, feed))
        publication.add(EncoderTap(feed, of: publication))
        return true
    }

    /// Ends every participant that is joined here.
    public func stop() {
        for participant in Array(joined.values) { participant.finish(.shutdown) }
    }

    private func receive(_ message: JoinMessage) {
        switch message {
        case .media:
            desk.inboxes[index].looked()
            for participant in joined.values { participant.drain() }
        case .began(let key, let feed): participant(key, feed).add(feed)
        case .ended(let feed, let reason): joined[feed.joined]?.ended(feed, reason)
        case .ordered(let key, let encoder): joined[key]?.ordered(encoder)
        case .leaseEnded(let key, let claim, let reason): joined[key]?.leaseEnded(claim, reason)
        }
    }

    private func participant(_ key: ParticipantKey, _ feed: EncoderFeed) -> JoinedParticipant {
        if let participant = joined[key] { return participant }
        let participant = JoinedParticipant(key, first: feed, self)
        joined[key] = participant
        return participant
    }

    /// It is over; where another encoder of it is on its way here, it begins anew.
    func forget(_ participant: JoinedParticipant) {
        joined[participant.key] = nil
        desk.close(participant.key)
    }
}
