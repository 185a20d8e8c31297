public import Refusals

/// Whose token a session lives by: what is needed to ask, while the session lives, whether it was taken away.
public struct TokenBearer: Sendable, Hashable {
    public var participantID: String
    public var stageARN: String
    /// The imported key that the token is signed with; nil for the gateway's own.
    public var publicKeyARN: String?

    public init(participantID: String, stageARN: String, publicKeyARN: String? = nil) {
        (self.participantID, self.stageARN, self.publicKeyARN) = (participantID, stageARN, publicKeyARN)
    }
}

/// Says what became of tokens since they were found good. Asked from any thread, answered from memory.
public protocol TokenStanding: Sendable {
    /// Why the bearer's sessions end now: participant disconnected, stage or key deleted. Nil while they may go on; a token that
    /// has expired meanwhile is no reason: it says until when a session may begin.
    func refusal(of bearer: TokenBearer) -> Refusal?
}

extension PublishGrant {
    /// Nil for stream keys, which are taken away by their ingest configuration, and for replicas,
    /// which end with their replication.
    public var bearer: TokenBearer? {
        guard ingestConfigurationARN == nil, replica == nil else { return nil }
        return TokenBearer(participantID: participantID, stageARN: stageARN, publicKeyARN: publicKeyARN)
    }
}

extension SubscribeGrant {
    public var bearer: TokenBearer {
        TokenBearer(participantID: participantID, stageARN: stageARN, publicKeyARN: publicKeyARN)
    }
}
