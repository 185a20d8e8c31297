public import EventLoop
public import Refusals

/// Claims the right to publish, and gives it back. Answers come on any thread, exactly once.
public protocol PublishLeases: Sendable {
    /// Asks for the participant's lease. What is granted is the caller's to give back by `release`.
    /// - Parameter takeOver: take the lease from its holder, which is told `.takenOver`.
    func claimPublish(
        _ grant: PublishGrant, protocol: IngestProtocol, holder: any LeaseHolder, takeOver: Bool,
        reply: @escaping @Sendable (ClaimAnswer) -> Void)
    /// Gives the lease back; a lease of an older generation than the one held changes nothing.
    func release(_ lease: PublishLease)
}

extension PublishLeases {
    /// Claims for somebody on a loop, who hears of it there; a claim that nobody answers is refused.
    /// - Parameters:
    ///   - replies: the way back. When it goes, `then` goes unheard, and what is granted is given back.
    ///   - then: called on the loop of `replies`, once.
    public func claimPublish(
        _ grant: PublishGrant, protocol ingestProtocol: IngestProtocol, holder: any LeaseHolder, takeOver: Bool,
        through replies: ReplyBox, then: @escaping (ClaimAnswer) -> Void
    ) {
        replies.ask { reply in
            self.claimPublish(grant, protocol: ingestProtocol, holder: holder, takeOver: takeOver) { answer in
                self.giveBack(unlessDelivered: reply(answer), answer)
            }
        } then: { (answer: ClaimAnswer?) in
            then(answer ?? .refused(Refusal(.authorityUnavailable)))
        }
    }

    /// Gives back the lease that a claim brought when the answer reached nobody: who claimed has ended meanwhile.
    public func giveBack(unlessDelivered isDelivered: Bool, _ answer: ClaimAnswer) {
        if !isDelivered, case .granted(let lease) = answer { release(lease) }
    }
}

/// What becomes of a claim.
public enum ClaimAnswer: Sendable {
    case granted(PublishLease)
    /// Another session publishes as this participant: the caller waits until it shows life or
    /// 2 s have passed without it, and claims again with `takeOver` (docs/design.md 7.3).
    case held(by: any LeaseHolder)
    case refused(Refusal)
}

/// The right to publish as one participant, held by one session of one node (docs/design.md 7.2).
public struct PublishLease: Sendable, Codable, Hashable {
    public var participantID: String
    public var stageID: String
    /// The stage session that this publish belongs to (`st-` and 13 characters).
    public var stageSessionID: String
    /// Rises with every claim of this participant: max(last + 1, wall clock ms), below 2^53.
    public var generation: UInt64

    public init(participantID: String, stageID: String, stageSessionID: String, generation: UInt64) {
        (self.participantID, self.stageID) = (participantID, stageID)
        (self.stageSessionID, self.generation) = (stageSessionID, generation)
    }
}
