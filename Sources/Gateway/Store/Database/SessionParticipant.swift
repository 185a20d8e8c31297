import GRDB

/// One participant of one session, as the rows about it are found.
struct SessionParticipant {
    static let condition = "stageARN = ? AND sessionID = ? AND participantID = ?"

    var stageARN: String
    var sessionID: String
    var participantID: String

    init(_ participantID: String, ofStage stageARN: String, sessionID: String) {
        (self.participantID, self.stageARN, self.sessionID) = (participantID, stageARN, sessionID)
    }

    /// For `condition`.
    var arguments: StatementArguments { [stageARN, sessionID, participantID] }
}

extension Participant {
    var place: SessionParticipant { SessionParticipant(participantID, ofStage: stageARN, sessionID: sessionID) }
}

extension ParticipantEvent {
    var place: SessionParticipant { SessionParticipant(participantID, ofStage: stageARN, sessionID: sessionID) }
}
