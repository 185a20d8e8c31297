public import Wire

/// One thing to append to the history, made under the lock under which the state changed, and so in its order.
public enum HistoryWrite: Codable, Sendable {
    case sessionBegan(StageSession)
    case sessionEnded(stageARN: String, sessionID: String, at: WallTime)
    /// The participant as it is now; replaces what was written of it in this session.
    case participant(Participant)
    /// The event and, in the same transaction, its entries in the outbox.
    case event(ParticipantEvent)
    /// The publish of this generation is over, whoever held it: if the participant is still connected by it, PUBLISH_STOPPED
    /// (where it was publishing) and LEFT are derived. What is written of that generation or an older one later is dropped.
    case closed(stageARN: String, sessionID: String, participantID: String, generation: UInt64, at: WallTime)
    /// The platform has taken this node's queue up to here; `closing` it derived, for this node's receivers to be told.
    case forwarded(through: Int64, closing: [ParticipantEvent])
    /// The receiver has taken the events up to here for this participant.
    case delivered(target: String, sequences: [Int64])
}
