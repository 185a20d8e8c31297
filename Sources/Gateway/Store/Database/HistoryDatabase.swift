import Foundation
import GRDB
import Wire

/// What happened: sessions, participants, events and the outbox of webhooks in `events.sqlite`, with `synchronous=NORMAL`.
///
/// A killed process loses nothing of it; a power failure may lose the last moments, as events are best effort.
struct HistoryDatabase: Sendable {
    /// Entries of one receiver's outbox, at most; beyond it the oldest are dropped.
    static let maximumOutbox = 100_000

    private let isQueueing: Bool
    let queue: DatabaseQueue

    /// - Parameter isQueueing: everything appended waits in a queue too, until the cluster has it.
    init(directory: String, isQueueing: Bool = false) throws(StoreError) {
        self.isQueueing = isQueueing
        queue = try DatabaseFile.open("\(directory)/events.sqlite", synchronous: "NORMAL", migrator: Self.migrator)
    }

    /// Appends in one transaction; returns the events among the writes, with their numbers.
    func append(_ writes: [HistoryWrite]) throws -> [ParticipantEvent] {
        try queue.write { database in
            var events: [ParticipantEvent] = []
            for write in writes {
                if isQueueing { try Self.enqueue(write, database) }
                events += try append(write, database)
            }
            return events
        }
    }

    func read(_ body: (EmbeddedHistory) -> Void) throws { try queue.read { body(EmbeddedHistory($0)) } }

    /// Mends what a process that died could not write, and takes note of the webhooks.
    ///
    /// - Parameter living: participants that another process of this gateway keeps.
    func recover(at now: WallTime, webhooks: [String], sparing living: Set<LivingParticipant>) throws -> EmbeddedStore.Recovered {
        try queue.write { database in
            try Self.setTargets(webhooks, database)
            try endAbandonedPublishes(at: now, sparing: living, database)
            let reader = EmbeddedHistory(database)
            return try EmbeddedStore.Recovered(
                activeSessions: reader.activeSessions(), highestGeneration: reader.highestGeneration())
        }
    }

    func removeEvents(before time: WallTime) throws {
        try queue.write { database in
            let limit = StatementArguments([time.nanosecondsSince1970])
            try database.execute(sql: "DELETE FROM event WHERE time < ?", arguments: limit)
            try database.execute(sql: "DELETE FROM outbox WHERE sequence NOT IN (SELECT sequence FROM event)")
            try database.execute(sql: "DELETE FROM stageSession WHERE endTime < ?", arguments: limit)
            for table in ["participant", "earlyRecording"] {
                try database.execute(
                    sql: "DELETE FROM \(table) WHERE (stageARN, sessionID) NOT IN (SELECT stageARN, sessionID FROM stageSession)")
            }
        }
    }

    /// Makes sure that every event is kept for these receivers until they took it, and forgets other receivers' entries.
    private static func setTargets(_ targets: [String], _ database: Database) throws {
        try database.execute(sql: "DELETE FROM target")
        for target in targets { try database.execute(sql: "INSERT OR IGNORE INTO target VALUES (?)", arguments: [target]) }
        try database.execute(sql: "DELETE FROM outbox WHERE target NOT IN (SELECT name FROM target)")
    }

    /// Drops what is beyond a receiver's bound, the oldest first.
    private static func boundOutbox(_ database: Database) throws {
        for target in try String.fetchAll(database, sql: "SELECT name FROM target") {
            try database.execute(
                sql: """
                    DELETE FROM outbox WHERE target = ?1 AND sequence <=
                        (SELECT sequence FROM outbox WHERE target = ?1 ORDER BY sequence DESC LIMIT 1 OFFSET ?2)
                    """, arguments: [target, maximumOutbox])
        }
    }

    func close() { try? queue.close() }

    private func append(_ write: HistoryWrite, _ database: Database) throws -> [ParticipantEvent] {
        switch write {
        case .sessionBegan(let session): try session.put(database)
        case .sessionEnded(let stage, let session, let time):
            try database.execute(
                sql: "UPDATE stageSession SET endTime = ? WHERE stageARN = ? AND sessionID = ?",
                arguments: [time.nanosecondsSince1970, stage, session])
        case .participant(let participant):
            guard try !Self.isClosed(participant, participant.generation ?? 0, database) else { break }
            try participant.put(database)
            try Self.takeEarlyRecording(of: participant, database)
        case .event(let event):
            if try !Self.isClosed(event, event.generation, database) { return [try Self.append(event, database)] }
        case .recording(let recording, let stage, let session, let participantID):
            let arguments: StatementArguments = [
                recording.state.rawValue, recording.bucketName, recording.prefix, stage, session, participantID,
            ]
            try database.execute(sql: Self.setRecording, arguments: arguments)
            if database.changesCount == 0 {
                try database.execute(sql: "INSERT OR REPLACE INTO earlyRecording VALUES (?, ?, ?, ?, ?, ?)", arguments: arguments)
            }
        case .replication(let replication, let stage, let session, let participantID):
            try database.execute(
                sql: """
                    UPDATE participant SET replicationType = ?, replicationState = ?, sourceStageARN = ?, sourceSessionID = ?
                        WHERE stageARN = ? AND sessionID = ? AND participantID = ?
                    """,
                arguments: [
                    replication.part.rawValue, replication.stateName, replication.sourceStageARN, replication.sourceSessionID,
                    stage, session, participantID,
                ])
        case .wasTest(let stage, let session, let participantID, let generation):
            try Self.forget(test: [stage, session, participantID, Int64(clamping: generation)], database)
        // Where there is a cluster, its database keeps them.
        case .journal: break
        case .metrics(let samples): if !isQueueing { try Self.append(samples, database) }
        case .closed(let stage, let session, let participantID, let generation, let time):
            // Where the cluster's database decides who is still connected, it also says what follows.
            guard !isQueueing, let participant = try Self.participant(stage, session, participantID, database) else { break }
            return try Self.close(participant, generation, at: time, database)
        case .forwarded(let sequence, let closing):
            try database.execute(sql: "DELETE FROM platformQueue WHERE sequence <= ?", arguments: [sequence])
            return try closing.map { try Self.append($0, database) }
        case .delivered(let target, let sequences):
            for sequence in sequences {
                try database.execute(
                    sql: "DELETE FROM outbox WHERE target = ? AND sequence = ?", arguments: [target, sequence])
            }
        }
        return []
    }

    /// - Parameter publish: stage, session, participant, generation.
    private static func forget(test publish: StatementArguments, _ database: Database) throws {
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

    private static let setRecording = """
        UPDATE participant SET recordingState = ?, recordingBucket = ?, recordingPrefix = ?
            WHERE stageARN = ? AND sessionID = ? AND participantID = ?
        """

    /// A recording may begin before its publish is known to go well, with which its participant begins.
    private static func takeEarlyRecording(of participant: Participant, _ database: Database) throws {
        let place: StatementArguments = [participant.stageARN, participant.sessionID, participant.participantID]
        let found = try Row.fetchOne(
            database,
            sql: """
                SELECT state, bucket, prefix FROM earlyRecording
                    WHERE stageARN = ? AND sessionID = ? AND participantID = ?
                """, arguments: place)
        guard let found else { return }
        let recording: StatementArguments = [found.text("state"), found.text("bucket"), found.text("prefix")]
        try database.execute(sql: setRecording, arguments: recording + place)
        try database.execute(
            sql: "DELETE FROM earlyRecording WHERE stageARN = ? AND sessionID = ? AND participantID = ?", arguments: place)
    }

    /// The event as it is written, with its number and its entries in the outbox.
    private static func append(_ event: ParticipantEvent, _ database: Database) throws -> ParticipantEvent {
        var event = event
        event.sequence = 0
        try event.put(database)
        event.sequence = database.lastInsertedRowID
        try database.execute(
            sql: "INSERT INTO outbox (target, sequence) SELECT name, ? FROM target", arguments: [event.sequence])
        if event.sequence % 1_000 == 0 { try boundOutbox(database) }
        if event.sequence % boundingInterval == 0 { try bound(sessionOf: event, database) }
        return event
    }
}

/// Crowds of short viewers leave no more than this of a session; who published stays as long as the history does.
extension HistoryDatabase {
    /// Participants of one session that never published and have left; the oldest are dropped beyond it.
    static let maximumFormerViewers = 5_000
    /// Events of one participant in one session, warnings not counted.
    static let maximumParticipantEvents = 1_000
    /// The bounds are looked after once in so many events. A prime: no pattern of events escapes it.
    static let boundingInterval: Int64 = 251

    private static func bound(sessionOf event: ParticipantEvent, _ database: Database) throws {
        try database.execute(
            sql: """
                DELETE FROM event WHERE stageARN = ?1 AND sessionID = ?2 AND participantID = ?3 AND sequence <=
                    (SELECT sequence FROM event WHERE stageARN = ?1 AND sessionID = ?2 AND participantID = ?3 AND name <> ?4
                        ORDER BY sequence DESC LIMIT 1 OFFSET ?5)
                """,
            arguments: [
                event.stageARN, event.sessionID, event.participantID, ParticipantEvent.Name.publishWarning.rawValue,
                maximumParticipantEvents,
            ])
        let former = "stageARN = ?1 AND sessionID = ?2 AND published = 0 AND isConnected = 0"
        try database.execute(
            sql: """
                DELETE FROM participant WHERE \(former) AND participantID IN
                    (SELECT participantID FROM participant WHERE \(former) ORDER BY firstJoinTime DESC LIMIT -1 OFFSET ?3)
                """, arguments: [event.stageARN, event.sessionID, maximumFormerViewers])
        guard database.changesCount > 0 else { return }
        try database.execute(
            sql: """
                DELETE FROM event WHERE stageARN = ?1 AND sessionID = ?2 AND participantID NOT IN
                    (SELECT participantID FROM participant WHERE stageARN = ?1 AND sessionID = ?2)
                """, arguments: [event.stageARN, event.sessionID])
    }
}

/// What the cluster has not taken yet, in the order of its writing: a node of a cluster loses none of it over a restart.
extension HistoryDatabase {
    /// Entries of the queue, at most; beyond it the oldest are dropped.
    static let maximumQueued = 200_000

    private static func enqueue(_ write: HistoryWrite, _ database: Database) throws {
        switch write {
        case .delivered, .forwarded: return
        case .sessionBegan, .sessionEnded, .participant, .event, .recording, .replication, .metrics, .journal, .closed, .wasTest:
            break
        }
        let entry = String(decoding: try JSONEncoder().encode(write), as: UTF8.self)
        try database.cachedStatement(sql: "INSERT INTO platformQueue (entry) VALUES (?)").execute(arguments: [entry])
        let last = database.lastInsertedRowID
        guard last % 1_000 == 0 else { return }
        try database.execute(
            sql: "DELETE FROM platformQueue WHERE sequence <= ?", arguments: [last - Int64(maximumQueued)])
    }
}

/// A write that waits for the platform.
package struct QueuedWrite: Sendable {
    /// Rises with every write of the queue.
    package var sequence: Int64
    package var write: HistoryWrite
}

/// The beginning of a node's queue.
package struct HistoryQueue: Sendable {
    /// Tells this data directory's numbers from those of all others.
    package var name: String
    package var writes: [QueuedWrite]
}

extension EmbeddedHistory {
    func historyQueue(limit: Int) throws -> HistoryQueue {
        let name = try String.fetchOne(database, sql: "SELECT name FROM platformQueueName") ?? ""
        let rows = try Row.fetchAll(
            database, sql: "SELECT sequence, entry FROM platformQueue ORDER BY sequence LIMIT ?", arguments: [limit])
        // What another version of this program wrote and this one cannot read goes with the next that it can.
        let writes = rows.compactMap { row in
            (try? JSONDecoder().decode(HistoryWrite.self, from: Data(row.text("entry").utf8))).map {
                QueuedWrite(sequence: row["sequence"], write: $0)
            }
        }
        return HistoryQueue(name: name, writes: writes)
    }
}

/// Ending publishes whose holder cannot say any more that it ended.
extension HistoryDatabase {
    /// PUBLISH_STOPPED, SUBSCRIBE_STOPPED and LEFT of those whose process died are derived now; in a cluster its database derives
    /// them.
    private func endAbandonedPublishes(at now: WallTime, sparing living: Set<LivingParticipant>, _ database: Database) throws {
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
    private static func close(
        _ participant: Participant, _ generation: UInt64, at now: WallTime, _ database: Database
    ) throws -> [ParticipantEvent] {
        let last = try lastEvent(of: participant, database)
        guard participant.isConnected, last?.generation ?? 0 <= generation else { return [] }
        func event(_ name: ParticipantEvent.Name, of remote: String = "") -> ParticipantEvent {
            var event = ParticipantEvent(
                name: name, time: now, stageARN: participant.stageARN, sessionID: participant.sessionID,
                participantID: participant.participantID, userID: participant.userID, generation: generation)
            event.remoteParticipantID = remote
            event.isReplica = remote.isEmpty && participant.replication?.part == .replica
            return event
        }
        let subscriptions = try openSubscriptions(of: participant, database).map { event(.subscribeStopped, of: $0) }
        let stopped = try isPublishing(participant, database) ? [event(.publishStopped)] : []
        try markClosed(participant, generation, database)
        return try (subscriptions + stopped + [event(.left)]).map { try append($0, database) }
    }

    private static func openSubscriptions(of participant: Participant, _ database: Database) throws -> [String] {
        let (started, stopped) = (ParticipantEvent.Name.subscribeStarted, ParticipantEvent.Name.subscribeStopped)
        var open: Set<String> = []
        for event in try events(of: participant, named: started, stopped, database) {
            if event.name == started {
                open.insert(event.remoteParticipantID)
            } else {
                open.remove(event.remoteParticipantID)
            }
        }
        return open.sorted()
    }

    private static func isPublishing(_ participant: Participant, _ database: Database) throws -> Bool {
        try events(of: participant, named: .publishStarted, .publishStopped, database).last?.name == .publishStarted
    }

    /// Oldest first.
    private static func events(
        of participant: Participant, named one: ParticipantEvent.Name, _ other: ParticipantEvent.Name, _ database: Database
    ) throws -> [ParticipantEvent] {
        try ParticipantEvent.fetch(
            database, where: "stageARN = ? AND sessionID = ? AND participantID = ? AND name IN (?, ?) ORDER BY sequence",
            [participant.stageARN, participant.sessionID, participant.participantID, one.rawValue, other.rawValue])
    }

    private static func markClosed(_ participant: Participant, _ generation: UInt64, _ database: Database) throws {
        try database.execute(
            sql: """
                UPDATE participant SET isConnected = 0, closedGeneration = max(closedGeneration, ?)
                    WHERE stageARN = ? AND sessionID = ? AND participantID = ?
                """,
            arguments: [Int64(clamping: generation), participant.stageARN, participant.sessionID, participant.participantID])
    }

    private static func participant(
        _ stageARN: String, _ sessionID: String, _ participantID: String, _ database: Database
    ) throws -> Participant? {
        try EmbeddedHistory(database).participant(participantID, ofStage: stageARN, sessionID: sessionID)
    }

    /// Whether the publish of this generation was closed: what its holder still writes is too late.
    private static func isClosed(_ subject: some OfParticipant, _ generation: UInt64, _ database: Database) throws -> Bool {
        guard generation > 0 else { return false }
        let statement = try database.cachedStatement(
            sql: "SELECT 1 FROM participant WHERE stageARN = ? AND sessionID = ? AND participantID = ? AND closedGeneration >= ?")
        let arguments: StatementArguments = [
            subject.stageARN, subject.sessionID, subject.participantID, Int64(clamping: generation),
        ]
        return try Bool.fetchOne(statement, arguments: arguments) ?? false
    }

    private static func lastEvent(of participant: Participant, _ database: Database) throws -> ParticipantEvent? {
        try ParticipantEvent.fetch(
            database,
            where: """
                stageARN = ? AND sessionID = ? AND participantID = ? AND \(ParticipantEvent.isModelled)
                    ORDER BY sequence DESC LIMIT 1
                """,
            [participant.stageARN, participant.sessionID, participant.participantID]
        ).first
    }
}

/// A row about one participant of one session.
private protocol OfParticipant {
    var stageARN: String { get }
    var sessionID: String { get }
    var participantID: String { get }
}

extension Participant: OfParticipant {}
extension ParticipantEvent: OfParticipant {}

/// The history as the writes that would make it again.
extension HistoryDatabase {
    /// In the order in which they have to be written.
    enum Part: CaseIterable {
        case sessions, participants, events
    }

    func endAbandoned(at now: WallTime) throws {
        try queue.write { try endAbandonedPublishes(at: now, sparing: [], $0) }
    }

    func writes(_ part: Part, offset: Int, limit: Int) throws -> [HistoryWrite] {
        var writes: [HistoryWrite] = []
        try read { history in
            writes = (try? Self.writes(part, offset: offset, limit: limit, history.database)) ?? []
        }
        return writes
    }

    private static func writes(_ part: Part, offset: Int, limit: Int, _ database: Database) throws -> [HistoryWrite] {
        let page = "ORDER BY 1, 2, 3 LIMIT ? OFFSET ?"
        switch part {
        case .sessions:
            return try StageSession.fetch(database, where: "true \(page)", [limit, offset]).flatMap { session in
                var begun = session
                begun.endTime = nil
                let end = session.endTime.map {
                    HistoryWrite.sessionEnded(stageARN: session.stageARN, sessionID: session.sessionID, at: $0)
                }
                return [.sessionBegan(begun)] + (end.map { [$0] } ?? [])
            }
        case .participants:
            return try Participant.fetch(database, where: "true \(page)", [limit, offset]).flatMap(HistoryWrite.story)
        case .events:
            return try ParticipantEvent.fetch(database, where: "true \(page)", [limit, offset]).map(HistoryWrite.event)
        }
    }
}
