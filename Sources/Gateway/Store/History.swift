public import StageMetrics
public import Wire

/// Questions to the history, asked and answered on the store's thread.
public protocol HistoryReading: MetricReading {
    /// Newest first, after the session with id `after` in that order.
    func sessions(ofStage arn: String, after: (startTime: WallTime, sessionID: String)?, limit: Int) throws -> [StageSession]

    func session(_ sessionID: String, ofStage arn: String) throws -> StageSession?

    /// In the order of their ids, after `after`.
    func participants(
        ofStage arn: String, sessionID: String, matching filter: ParticipantFilter, after: String, limit: Int
    ) throws -> [Participant]

    func participant(_ participant: SessionParticipant) throws -> Participant?

    /// Whether the participant ever was in one of the stage's sessions.
    func knows(participant participantID: String, ofStage arn: String) throws -> Bool

    /// Oldest first, after the event number `after`; only what the API model knows.
    func events(of participant: SessionParticipant, after: Int64, limit: Int) throws -> [ParticipantEvent]

    /// Events of all stages, oldest first, after the event number `after`.
    func events(after: Int64, limit: Int) throws -> [ParticipantEvent]

    /// The number of the newest event; 0 when there is none.
    func lastSequence() throws -> Int64

    /// Events that `target` has not taken yet, oldest first, after the event number `after`.
    ///
    /// Only the store of the node that recorded them has these: that node delivers them.
    func undelivered(to target: String, after: Int64, limit: Int) throws -> [ParticipantEvent]

    /// Those of one participant, oldest first, among the events of these numbers.
    func undelivered(
        to target: String, of participant: StageParticipant, in numbers: ClosedRange<Int64>, limit: Int
    ) throws -> [ParticipantEvent]

    /// What all nodes know of a recording of the participant; nil when nothing is known.
    /// - Parameter prefix: of that recording; nil: of the latest one.
    func journal(ofParticipant participantID: String, ofStage arn: String, prefix: String?) throws -> ClusterJournal?
}

extension HistoryReading {
    /// Of a node that is alone nobody else needs to know.
    public func journal(ofParticipant participantID: String, ofStage arn: String, prefix: String?) -> ClusterJournal? { nil }

    public func participants(
        ofStage arn: String, sessionID: String, matching filter: ParticipantFilter = .none, limit: Int
    ) throws -> [Participant] {
        try participants(ofStage: arn, sessionID: sessionID, matching: filter, after: "", limit: limit)
    }

    public func events(of participant: SessionParticipant, limit: Int) throws -> [ParticipantEvent] {
        try events(of: participant, after: 0, limit: limit)
    }

    public func undelivered(to target: String, limit: Int) throws -> [ParticipantEvent] {
        try undelivered(to: target, after: 0, limit: limit)
    }
}

/// The one condition that ListParticipants takes.
public enum ParticipantFilter: Sendable {
    case none
    case userID(String)
    case published(Bool)
    case connected(Bool)
    case recording(ParticipantRecording.State)
}

/// One thing to append to the history, made under the lock under which the state changed, and so in its order.
public enum HistoryWrite: Codable, Equatable, Sendable {
    /// Told again, it goes on: in a cluster it has no end as long as it is the stage's running one.
    case sessionBegan(StageSession)
    case sessionEnded(stageARN: String, sessionID: String, at: WallTime)
    /// The participant as it is now; replaces what was written of it in this session.
    case participant(Participant)
    /// The event and, in the same transaction, its entries in the outbox; in a cluster these come when that has taken it.
    case event(ParticipantEvent)
    /// How the participant's recording stands now; nothing where the history does not know the participant.
    case recording(ParticipantRecording, stageARN: String, sessionID: String, participantID: String)
    /// The participant's part in replications now; nothing where the history does not know the participant.
    case replication(ParticipantReplication, stageARN: String, sessionID: String, participantID: String)
    /// The publish of this generation is over, whoever held it: if the participant is still connected by it, PUBLISH_STOPPED
    /// (where it was publishing) and LEFT are derived. What is written of that generation or an older one later is dropped.
    case closed(stageARN: String, sessionID: String, participantID: String, generation: UInt64, at: WallTime)
    /// The publish of this generation was a network test: the history forgets its participant, if it did nothing else in the
    /// session, and a session of which it was all. Events stay for those to whom they are delivered.
    case wasTest(stageARN: String, sessionID: String, participantID: String, generation: UInt64)
    /// A line of a recording's journal for the other nodes; nothing where there are none.
    case journal(JournalLine)
    /// Points of metrics of one stage, or of none, that are over; added to what is kept of the same minutes.
    case metrics([MetricSample])
    /// The cluster has taken this node's queue up to here. Receivers are told of the events that it has `taken` or derived.
    case forwarded(through: Int64, taken: [ParticipantEvent])
    /// The receiver has taken the events of these numbers.
    case delivered(target: String, sequences: [Int64])
}

extension HistoryWrite {
    /// The writes that recreate a participant, with its recording and its part in replications.
    package static func story(of participant: Participant) -> [HistoryWrite] {
        let recording = participant.recording.map {
            HistoryWrite.recording(
                $0, stageARN: participant.stageARN, sessionID: participant.sessionID, participantID: participant.participantID)
        }
        let replication = participant.replication.map {
            HistoryWrite.replication(
                $0, stageARN: participant.stageARN, sessionID: participant.sessionID, participantID: participant.participantID)
        }
        return [.participant(participant)] + [recording, replication].compactMap { $0 }
    }
}
