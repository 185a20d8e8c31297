public import Wire

/// One thing to append to the history, made under the lock under which the state changed, and so in its order.
public enum HistoryWrite: Codable, Sendable {
    case sessionBegan(StageSession)
    case sessionEnded(stageARN: String, sessionID: String, at: WallTime)
    /// The participant as it is now; replaces what was written of it in this session.
    case participant(Participant)
    /// The event and, in the same transaction, its entries in the outbox.
    case event(ParticipantEvent)
    /// The receiver has taken the events up to here for this participant.
    case delivered(target: String, sequences: [Int64])
}
