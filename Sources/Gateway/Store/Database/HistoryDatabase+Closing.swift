import GRDB
import Wire

/// Ending publishes whose holder cannot say any more that it ended.
extension HistoryDatabase {
    /// PUBLISH_STOPPED and LEFT of publishes whose process died are derived now; in a cluster the platform derives them.
    func endAbandonedPublishes(at now: WallTime, sparing living: Set<LivingParticipant>, _ database: Database) throws {
        for participant in try Participant.fetch(database, where: "isConnected", []) {
            if living.contains(LivingParticipant(participant)) { continue }
            let generation = try Self.lastEvent(of: participant, database)?.generation ?? 0
            guard isQueueing else {
                _ = try Self.close(participant, generation, at: now, database)
                continue
            }
            try Self.markClosed(participant, generation, database)
            let closed = HistoryWrite.closed(
                stageARN: participant.stageARN, sessionID: participant.sessionID, participantID: participant.participantID,
                generation: generation, at: now)
            try Self.enqueue(closed, database)
        }
    }

    /// - Returns: the events that follow; none if a newer publish has the participant, or it has left.
    static func close(
        _ participant: Participant, _ generation: UInt64, at now: WallTime, _ database: Database
    ) throws -> [ParticipantEvent] {
        let last = try lastEvent(of: participant, database)
        guard participant.isConnected, last?.generation ?? 0 <= generation else { return [] }
        let names: [ParticipantEvent.Name] = last?.name == .publishStarted ? [.publishStopped, .left] : [.left]
        let events = names.map { name in
            ParticipantEvent(
                name: name, time: now, stageARN: participant.stageARN, sessionID: participant.sessionID,
                participantID: participant.participantID, userID: participant.userID, generation: generation)
        }
        try markClosed(participant, generation, database)
        return try events.map { try append($0, database) }
    }

    private static func markClosed(_ participant: Participant, _ generation: UInt64, _ database: Database) throws {
        try database.execute(
            sql: """
                UPDATE participant SET isConnected = 0, closedGeneration = max(closedGeneration, ?)
                    WHERE stageARN = ? AND sessionID = ? AND participantID = ?
                """,
            arguments: [Int64(generation), participant.stageARN, participant.sessionID, participant.participantID])
    }

    static func participant(
        _ stageARN: String, _ sessionID: String, _ participantID: String, _ database: Database
    ) throws -> Participant? {
        try EmbeddedHistory(database).participant(participantID, ofStage: stageARN, sessionID: sessionID)
    }

    /// Whether the publish of this generation was closed: what its holder still writes is too late.
    static func isClosed(_ subject: some OfParticipant, _ generation: UInt64, _ database: Database) throws -> Bool {
        guard generation > 0 else { return false }
        let statement = try database.cachedStatement(
            sql: "SELECT 1 FROM participant WHERE stageARN = ? AND sessionID = ? AND participantID = ? AND closedGeneration >= ?")
        return try Bool.fetchOne(
            statement, arguments: [subject.stageARN, subject.sessionID, subject.participantID, Int64(generation)]) ?? false
    }

    private static func lastEvent(of participant: Participant, _ database: Database) throws -> ParticipantEvent? {
        try ParticipantEvent.fetch(
            database,
            where: """
                stageARN = ? AND sessionID = ? AND participantID = ? AND name <> ? ORDER BY sequence DESC LIMIT 1
                """,
            [
                participant.stageARN, participant.sessionID, participant.participantID,
                ParticipantEvent.Name.publishWarning.rawValue,
            ]
        ).first
    }
}

/// What tells of one participant of one session.
protocol OfParticipant {
    var stageARN: String { get }
    var sessionID: String { get }
    var participantID: String { get }
}

extension Participant: OfParticipant {}
extension ParticipantEvent: OfParticipant {}
