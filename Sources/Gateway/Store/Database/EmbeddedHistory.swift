import GRDB
import Wire

/// The history of one gateway, as its SQLite file has it.
struct EmbeddedHistory: HistoryReading {
    let database: Database

    init(_ database: Database) { self.database = database }

    func sessions(ofStage arn: String, after: (startTime: WallTime, sessionID: String)?, limit: Int) throws
        -> [StageSession]
    {
        try StageSession.fetch(
            database,
            where: "stageARN = ? AND (startTime, sessionID) < (?, ?) ORDER BY startTime DESC, sessionID DESC LIMIT ?",
            [
                arn, after?.startTime.nanosecondsSince1970 ?? .max, after?.sessionID ?? "~", limit,
            ])
    }

    func session(_ sessionID: String, ofStage arn: String) throws -> StageSession? {
        try StageSession.fetch(database, where: "stageARN = ? AND sessionID = ?", [arn, sessionID]).first
    }

    /// Sessions that have not ended.
    func activeSessions() throws -> [StageSession] {
        try StageSession.fetch(database, where: "endTime IS NULL", [])
    }

    func participants(
        ofStage arn: String, sessionID: String, matching filter: ParticipantFilter, after: String, limit: Int
    ) throws -> [Participant] {
        let (condition, value) = filter.condition
        return try Participant.fetch(
            database,
            where: "stageARN = ? AND sessionID = ? AND participantID > ? AND \(condition) ORDER BY participantID LIMIT ?",
            [arn, sessionID, after, value, limit])
    }

    func participant(_ participant: SessionParticipant) throws -> Participant? {
        try Participant.fetch(database, where: SessionParticipant.condition, participant.arguments).first
    }

    func knows(participant participantID: String, ofStage arn: String) throws -> Bool {
        try !Participant.fetch(database, where: "stageARN = ? AND participantID = ? LIMIT 1", [arn, participantID]).isEmpty
    }

    func events(of participant: SessionParticipant, after: Int64, limit: Int) throws -> [ParticipantEvent] {
        try ParticipantEvent.fetch(
            database,
            where: """
                \(SessionParticipant.condition) AND \(ParticipantEvent.isModelled) AND isListed AND sequence > ?
                    ORDER BY sequence LIMIT ?
                """,
            participant.arguments + [after, limit])
    }

    func events(after: Int64, limit: Int) throws -> [ParticipantEvent] {
        try ParticipantEvent.fetch(database, where: "sequence > ? ORDER BY sequence LIMIT ?", [after, limit])
    }

    func undelivered(to target: String, after: Int64, limit: Int) throws -> [ParticipantEvent] {
        try ParticipantEvent.fetch(
            database,
            where: """
                sequence > ? AND sequence IN (SELECT sequence FROM outbox WHERE target = ?) ORDER BY sequence LIMIT ?
                """,
            [after, target, limit])
    }

    /// By way of the outbox (`+` keeps from the index): the stage may have had millions of events.
    func undelivered(
        to target: String, of participant: StageParticipant, in numbers: ClosedRange<Int64>, limit: Int
    ) throws -> [ParticipantEvent] {
        try ParticipantEvent.fetch(
            database,
            where: """
                +stageARN = ? AND +participantID = ? AND sequence IN
                    (SELECT sequence FROM outbox WHERE target = ? AND sequence BETWEEN ? AND ?) ORDER BY sequence LIMIT ?
                """,
            [participant.stageARN, participant.participantID, target, numbers.lowerBound, numbers.upperBound, limit])
    }

    func lastSequence() throws -> Int64 {
        try Int64.fetchOne(database, sql: "SELECT max(sequence) FROM event") ?? 0
    }

    /// The highest generation ever given to a publish.
    func highestGeneration() throws -> UInt64 {
        UInt64(max(0, try Int64.fetchOne(database, sql: "SELECT max(generation) FROM event") ?? 0))
    }
}

extension ParticipantFilter {
    fileprivate var condition: (sql: String, value: any DatabaseValueConvertible & Sendable) {
        switch self {
        case .none: ("?", true)
        case .userID(let id): ("userID = ?", id)
        case .published(let flag): ("published = ?", flag)
        case .connected(let flag): ("isConnected = ?", flag)
        case .recording(let state): ("recordingState = ?", state.rawValue)
        }
    }
}
