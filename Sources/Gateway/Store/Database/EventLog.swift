import GRDB

/// The events, numbered in the order in which they are written.
struct EventLog {
    private let database: Database

    init(_ database: Database) { self.database = database }

    /// It waits in the outbox from now on.
    /// - Returns: the event as it is written, with its number.
    func append(_ event: ParticipantEvent) throws -> ParticipantEvent {
        let event = try keep(event)
        try Outbox(database).add(event.sequence)
        if event.sequence % HistoryDatabase.outboxInterval == 0 { try Outbox(database).bound() }
        return event
    }

    /// The cluster has taken it, or derived it: one that was kept goes behind all others, for receivers read by rising numbers.
    /// - Returns: the event as it is written, with its number.
    func take(_ event: ParticipantEvent) throws -> ParticipantEvent {
        try database.execute(sql: "DELETE FROM event WHERE sequence = ?", arguments: [event.sequence])
        return try append(event)
    }

    /// No receiver is told of it.
    /// - Returns: the event as it is written, with its number.
    func keep(_ event: ParticipantEvent) throws -> ParticipantEvent {
        var event = event
        event.sequence = 0
        try event.put(database)
        event.sequence = database.lastInsertedRowID
        if event.sequence % HistoryDatabase.boundingInterval == 0 {
            try boundEvents(of: event.place)
            try boundFormerViewers(besides: event.place)
        }
        return event
    }

    private func boundEvents(of participant: SessionParticipant) throws {
        let bound: StatementArguments = [
            ParticipantEvent.Name.publishWarning.rawValue, HistoryDatabase.maximumParticipantEvents,
        ]
        try database.execute(
            sql: """
                DELETE FROM event WHERE stageARN = ?1 AND sessionID = ?2 AND participantID = ?3 AND sequence <=
                    (SELECT sequence FROM event WHERE stageARN = ?1 AND sessionID = ?2 AND participantID = ?3 AND name <> ?4
                        ORDER BY sequence DESC LIMIT 1 OFFSET ?5)
                """, arguments: participant.arguments + bound)
    }

    /// Of the session of this participant.
    private func boundFormerViewers(besides participant: SessionParticipant) throws {
        let former = "stageARN = ?1 AND sessionID = ?2 AND published = 0 AND isConnected = 0"
        try database.execute(
            sql: """
                DELETE FROM participant WHERE \(former) AND participantID IN
                    (SELECT participantID FROM participant WHERE \(former) ORDER BY firstJoinTime DESC LIMIT -1 OFFSET ?3)
                """, arguments: [participant.stageARN, participant.sessionID, HistoryDatabase.maximumFormerViewers])
        guard database.changesCount > 0 else { return }
        try database.execute(
            sql: """
                DELETE FROM event WHERE stageARN = ?1 AND sessionID = ?2 AND participantID NOT IN
                    (SELECT participantID FROM participant WHERE stageARN = ?1 AND sessionID = ?2)
                """, arguments: [participant.stageARN, participant.sessionID])
    }
}
