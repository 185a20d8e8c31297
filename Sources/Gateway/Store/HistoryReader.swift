import GRDB
public import Wire

/// Questions to the history, asked on the store's thread.
public struct HistoryReader {
    let database: Database

    init(_ database: Database) { self.database = database }

    /// Newest first, after the session with id `after` in that order.
    public func sessions(ofStage arn: String, after: (startTime: WallTime, sessionID: String)?, limit: Int) throws
        -> [StageSession]
    {
        try StageSession.fetch(
            database,
            where: "stageARN = ? AND (startTime, sessionID) < (?, ?) ORDER BY startTime DESC, sessionID DESC LIMIT ?",
            [
                arn, after?.startTime.nanosecondsSince1970 ?? .max, after?.sessionID ?? "~", limit,
            ])
    }

    public func session(_ sessionID: String, ofStage arn: String) throws -> StageSession? {
        try StageSession.fetch(database, where: "stageARN = ? AND sessionID = ?", [arn, sessionID]).first
    }

    /// Sessions that have not ended.
    public func activeSessions() throws -> [StageSession] {
        try StageSession.fetch(database, where: "endTime IS NULL", [])
    }

    /// In the order of their ids, after `after`.
    public func participants(
        ofStage arn: String, sessionID: String, matching filter: ParticipantFilter = .none, after: String = "", limit: Int
    ) throws -> [Participant] {
        let (condition, value) = filter.condition
        return try Participant.fetch(
            database,
            where: "stageARN = ? AND sessionID = ? AND participantID > ? AND \(condition) ORDER BY participantID LIMIT ?",
            [arn, sessionID, after, value, limit])
    }

    public func participant(_ participantID: String, ofStage arn: String, sessionID: String) throws -> Participant? {
        try Participant.fetch(
            database, where: "stageARN = ? AND sessionID = ? AND participantID = ?", [arn, sessionID, participantID]
        ).first
    }

    /// Whether the participant ever was in one of the stage's sessions.
    public func knows(participant participantID: String, ofStage arn: String) throws -> Bool {
        try !Participant.fetch(database, where: "stageARN = ? AND participantID = ? LIMIT 1", [arn, participantID]).isEmpty
    }

    /// Oldest first, after the event number `after`; only what the API model knows.
    public func events(
        ofStage arn: String, sessionID: String, participantID: String, after: Int64 = 0, limit: Int
    ) throws -> [ParticipantEvent] {
        try ParticipantEvent.fetch(
            database,
            where: """
                stageARN = ? AND sessionID = ? AND participantID = ? AND name <> ? AND sequence > ? ORDER BY sequence LIMIT ?
                """,
            [arn, sessionID, participantID, ParticipantEvent.Name.publishWarning.rawValue, after, limit])
    }

    /// Events of all stages, oldest first, after the event number `after`.
    public func events(after: Int64, limit: Int) throws -> [ParticipantEvent] {
        try ParticipantEvent.fetch(database, where: "sequence > ? ORDER BY sequence LIMIT ?", [after, limit])
    }

    /// Events that `target` has not taken yet, oldest first, after the event number `after`.
    public func undelivered(to target: String, after: Int64 = 0, limit: Int) throws -> [ParticipantEvent] {
        try ParticipantEvent.fetch(
            database,
            where: """
                sequence > ? AND sequence IN (SELECT sequence FROM outbox WHERE target = ?) ORDER BY sequence LIMIT ?
                """,
            [after, target, limit])
    }

    /// The number of the newest event; 0 when there is none.
    public func lastSequence() throws -> Int64 {
        try Int64.fetchOne(database, sql: "SELECT max(sequence) FROM event") ?? 0
    }

    /// The highest generation ever given to a publish.
    public func highestGeneration() throws -> UInt64 {
        UInt64(max(0, try Int64.fetchOne(database, sql: "SELECT max(generation) FROM event") ?? 0))
    }
}

/// The one condition that ListParticipants takes.
public enum ParticipantFilter: Sendable {
    case none
    case userID(String)
    case published(Bool)
    case connected(Bool)
    /// Nothing is recorded here, so that no recording state matches.
    case nothing

    var condition: (sql: String, value: any DatabaseValueConvertible & Sendable) {
        switch self {
        case .none: ("?", true)
        case .userID(let id): ("userID = ?", id)
        case .published(let flag): ("published = ?", flag)
        case .connected(let flag): ("isConnected = ?", flag)
        case .nothing: ("?", false)
        }
    }
}
