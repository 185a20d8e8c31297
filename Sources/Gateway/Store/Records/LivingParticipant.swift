/// A participant that is connected to this gateway now, in which session; the history must not take it for abandoned.
public struct LivingParticipant: Codable, Hashable, Sendable {
    public var sessionID: String
    public var participantID: String

    public init(sessionID: String, participantID: String) { (self.sessionID, self.participantID) = (sessionID, participantID) }

    init(_ participant: Participant) {
        self.init(sessionID: participant.sessionID, participantID: participant.participantID)
    }
}
