/// Who publishes or watches, in tables of all stages: a participant's id is its own on its stage alone, because whoever signs a
/// stage's tokens chooses the ids on it.
public struct ParticipantKey: Hashable, Sendable {
    public var stageID: String
    public var participantID: String

    public init(_ participantID: String, onStage stageID: String) {
        (self.participantID, self.stageID) = (participantID, stageID)
    }

    /// `stage-participant`: a stage's id holds no hyphen.
    public var name: String { "\(stageID)-\(participantID)" }
}

extension PublishGrant {
    public var participant: ParticipantKey { ParticipantKey(participantID, onStage: stageID) }
}

extension PublishLease {
    public var participant: ParticipantKey { ParticipantKey(participantID, onStage: stageID) }
}

extension SubscribeGrant {
    public var participant: ParticipantKey { ParticipantKey(participantID, onStage: stageID) }
}
