/// One participant of one stage session, as the history is asked for it.
public struct SessionParticipant: Equatable, Sendable {
    public var stageARN: String
    public var sessionID: String
    public var participantID: String

    public init(_ participantID: String, ofStage stageARN: String, sessionID: String) {
        (self.participantID, self.stageARN, self.sessionID) = (participantID, stageARN, sessionID)
    }
}

extension Participant {
    package var place: SessionParticipant { SessionParticipant(participantID, ofStage: stageARN, sessionID: sessionID) }
}

extension ParticipantEvent {
    package var place: SessionParticipant { SessionParticipant(participantID, ofStage: stageARN, sessionID: sessionID) }
}
