import GRDB
import Wire

/// The history while one transaction of its file changes it: what each write does to which table.
struct HistoryTransaction {
    private let database: Database
    /// Everything waits for the cluster too, whose database decides who is still connected and says what follows.
    private let isQueueing: Bool

    init(_ database: Database, isQueueing: Bool) { (self.database, self.isQueueing) = (database, isQueueing) }

    /// - Returns: the events of which receivers are told, with their numbers; in a cluster those that it has taken.
    func append(_ write: HistoryWrite) throws -> [ParticipantEvent] {
        if isQueueing { try queue(write) }
        switch write {
        case .sessionBegan(let session): try session.put(database)
        case .sessionEnded(let stage, let session, let time): try end(session, ofStage: stage, at: time)
        case .participant(let participant): try put(participant)
        case .event(let event): return isQueueing ? [] : try add(event)
        case .recording(let recording, let stage, let session, let id):
            try ParticipantRecordings(database).set(recording, of: SessionParticipant(id, ofStage: stage, sessionID: session))
        case .replication(let replication, let stage, let session, let id):
            try set(replication, of: SessionParticipant(id, ofStage: stage, sessionID: session))
        case .wasTest(let stage, let session, let id, let generation):
            try forget(SessionParticipant(id, ofStage: stage, sessionID: session), publishedAsTest: generation)
        // Where there is a cluster, its database keeps them.
        case .journal: break
        case .metrics(let samples): if !isQueueing { try MetricTables(database).append(samples) }
        case .closed(let stage, let session, let id, let generation, let time):
            return try close(SessionParticipant(id, ofStage: stage, sessionID: session), generation, at: time)
        case .forwarded(let sequence, let taken):
            try ForwardingQueue(database).remove(through: sequence)
            return try taken.map { try EventLog(database).take($0) }
        case .delivered(let target, let sequences): try Outbox(database).remove(sequences, of: target)
        }
        return []
    }

    /// PUBLISH_STOPPED, SUBSCRIBE_STOPPED and LEFT of those whose process died are derived now; in a cluster its database derives
    /// them.
    /// - Parameter living: participants that another process of this gateway keeps.
    func endAbandoned(at now: WallTime, sparing living: Set<LivingParticipant>) throws {
        let closed = ClosedPublishes(database)
        for participant in try Participant.fetch(database, where: "isConnected", []) {
            if living.contains(LivingParticipant(participant)) { continue }
            let generation = try closed.lastGeneration(of: participant.place)
            guard isQueueing else {
                _ = try closed.close(participant, generation, at: now)
                continue
            }
            try closed.add(generation, of: participant.place)
            try ForwardingQueue(database).add(
                .closed(
                    stageARN: participant.stageARN, sessionID: participant.sessionID, participantID: participant.participantID,
                    generation: generation, at: now))
        }
    }
}

// MARK: - Writes

extension HistoryTransaction {
    private func end(_ sessionID: String, ofStage arn: String, at time: WallTime) throws {
        try database.execute(
            sql: "UPDATE stageSession SET endTime = ? WHERE stageARN = ? AND sessionID = ?",
            arguments: [time.nanosecondsSince1970, arn, sessionID])
    }

    private func put(_ participant: Participant) throws {
        guard try !ClosedPublishes(database).contains(participant.generation ?? 0, of: participant.place) else { return }
        try participant.put(database)
        try ParticipantRecordings(database).takeEarly(of: participant.place)
    }

    /// An event has a number there, by which it is found again when the cluster has taken it.
    private func queue(_ write: HistoryWrite) throws {
        guard case .event(let event) = write else { return try ForwardingQueue(database).add(write) }
        try ForwardingQueue(database).add(.event(try EventLog(database).keep(event)))
    }

    private func add(_ event: ParticipantEvent) throws -> [ParticipantEvent] {
        guard try !ClosedPublishes(database).contains(event.generation, of: event.place) else { return [] }
        return [try EventLog(database).append(event)]
    }

    private func set(_ replication: ParticipantReplication, of participant: SessionParticipant) throws {
        let columns: StatementArguments = [
            replication.part.rawValue, replication.stateName, replication.sourceStageARN, replication.sourceSessionID,
        ]
        try database.execute(
            sql: """
                UPDATE participant SET replicationType = ?, replicationState = ?, sourceStageARN = ?, sourceSessionID = ?
                    WHERE \(SessionParticipant.condition)
                """, arguments: columns + participant.arguments)
    }

    private func close(
        _ participant: SessionParticipant, _ generation: UInt64, at time: WallTime
    ) throws -> [ParticipantEvent] {
        guard !isQueueing, let found = try EmbeddedHistory(database).participant(participant) else { return [] }
        return try ClosedPublishes(database).close(found, generation, at: time)
    }

    /// - Parameter generation: of the participant's publish that was a network test.
    private func forget(_ participant: SessionParticipant, publishedAsTest generation: UInt64) throws {
        let test: StatementArguments = [Int64(clamping: generation)]
        let publish = participant.arguments + test
        let ofPublish = [.joined, .publishStarted, .publishStopped, .publishWarning, ParticipantEvent.Name.left]
            .map { "'\($0.rawValue)'" }.joined(separator: ", ")
        try database.execute(
            sql: """
                DELETE FROM participant WHERE stageARN = ?1 AND sessionID = ?2 AND participantID = ?3
                    AND isConnected = 0 AND recordingState = '' AND replicationType = '' AND NOT EXISTS
                    (SELECT 1 FROM event WHERE stageARN = ?1 AND sessionID = ?2 AND participantID = ?3 AND isListed
                        AND (generation <> ?4 OR name NOT IN (\(ofPublish))))
                """, arguments: publish)
        guard database.changesCount > 0 else { return }
        try database.execute(
            sql: """
                UPDATE event SET isListed = 0 WHERE stageARN = ?1 AND sessionID = ?2 AND participantID = ?3 AND generation = ?4
                """, arguments: publish)
        try database.execute(
            sql: """
                DELETE FROM stageSession WHERE stageARN = ?1 AND sessionID = ?2 AND NOT EXISTS
                    (SELECT 1 FROM participant WHERE stageARN = ?1 AND sessionID = ?2) AND ?3 <> '' AND ?4 >= 0
                """, arguments: publish)
    }
}
