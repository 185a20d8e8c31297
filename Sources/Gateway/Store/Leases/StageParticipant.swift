import Admission

/// One participant of one stage.
public struct StageParticipant: Codable, Hashable, Sendable {
    public var stageARN: String
    public var participantID: String

    public init(_ participantID: String, of stageARN: String) { (self.participantID, self.stageARN) = (participantID, stageARN) }

    /// As it is named where the stage's id stands for its ARN.
    var key: ParticipantKey { ParticipantKey(participantID, onStage: ResourceName.identifier(inARN: stageARN)) }
}
