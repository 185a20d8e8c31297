import GRDB
import Wire

/// What happened: sessions, participants, events and the outbox of webhooks in `events.sqlite`, with `synchronous=NORMAL`.
///
/// A killed process loses nothing of it; a power failure may lose the last moments, as events are best effort.
struct HistoryDatabase: Sendable {
    /// Entries of one receiver's outbox, at most; beyond it the oldest are dropped.
    static let maximumOutbox = 100_000

    let isQueueing: Bool
    private let queue: DatabaseQueue

    /// - Parameter isQueueing: everything appended waits in a queue too, until the platform took it.
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

    func change(_ body: (Database) throws -> Void) throws { try queue.write(body) }

    func read(_ body: (EmbeddedHistory) -> Void) throws { try queue.read { body(EmbeddedHistory($0)) } }

    /// Mends what a process that died could not write, and takes note of the webhooks.
    ///
    /// - Parameter living: what another process of ours goes on with.
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
            try database.execute(
                sql: "DELETE FROM participant WHERE (stageARN, sessionID) NOT IN (SELECT stageARN, sessionID FROM stageSession)")
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
            if try !Self.isClosed(participant, participant.generation ?? 0, database) { try participant.put(database) }
        case .event(let event):
            if try !Self.isClosed(event, event.generation, database) { return [try Self.append(event, database)] }
        case .closed(let stage, let session, let participantID, let generation, let time):
            // Where the platform decides who is still connected, it also says what follows.
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

    /// The event as it is written, with its number and its entries in the outbox.
    static func append(_ event: ParticipantEvent, _ database: Database) throws -> ParticipantEvent {
        var event = event
        event.sequence = 0
        try event.put(database)
        event.sequence = database.lastInsertedRowID
        try database.execute(
            sql: "INSERT INTO outbox (target, sequence) SELECT name, ? FROM target", arguments: [event.sequence])
        if event.sequence % 1_000 == 0 { try boundOutbox(database) }
        return event
    }

    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 sessions, participants, events and outbox") { database in
            try database.execute(
                sql: """
                    CREATE TABLE stageSession (
                        stageARN TEXT NOT NULL, sessionID TEXT NOT NULL, startTime INTEGER NOT NULL, endTime INTEGER,
                        PRIMARY KEY (stageARN, sessionID)) WITHOUT ROWID;
                    CREATE TABLE participant (
                        stageARN TEXT NOT NULL, sessionID TEXT NOT NULL, participantID TEXT NOT NULL, userID TEXT NOT NULL,
                        attributes TEXT NOT NULL, isConnected INTEGER NOT NULL, published INTEGER NOT NULL,
                        firstJoinTime INTEGER NOT NULL, ingestProtocol TEXT NOT NULL, ingestConfigurationARN TEXT NOT NULL,
                        browserName TEXT NOT NULL, browserVersion TEXT NOT NULL, osName TEXT NOT NULL, osVersion TEXT NOT NULL,
                        sdkVersion TEXT NOT NULL,
                        PRIMARY KEY (stageARN, sessionID, participantID)) WITHOUT ROWID;
                    CREATE TABLE event (
                        sequence INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, time INTEGER NOT NULL,
                        stageARN TEXT NOT NULL, sessionID TEXT NOT NULL, participantID TEXT NOT NULL, userID TEXT NOT NULL,
                        errorCode TEXT NOT NULL, generation INTEGER NOT NULL);
                    CREATE INDEX eventOfParticipant ON event (stageARN, sessionID, participantID, sequence);
                    CREATE TABLE target (name TEXT PRIMARY KEY) WITHOUT ROWID;
                    CREATE TABLE outbox (
                        target TEXT NOT NULL, sequence INTEGER NOT NULL, PRIMARY KEY (target, sequence)) WITHOUT ROWID;
                    """)
        }
        migrator.registerMigration("2 warnings") { database in
            try database.execute(
                sql: """
                    ALTER TABLE event ADD COLUMN rule TEXT NOT NULL DEFAULT '';
                    ALTER TABLE event ADD COLUMN sentence TEXT NOT NULL DEFAULT '';
                    """)
        }
        migrator.registerMigration("3 what waits for the platform") { database in
            try database.execute(
                sql: """
                    ALTER TABLE participant ADD COLUMN closedGeneration INTEGER NOT NULL DEFAULT 0;
                    CREATE TABLE platformQueue (sequence INTEGER PRIMARY KEY AUTOINCREMENT, entry TEXT NOT NULL);
                    CREATE TABLE platformQueueName (name TEXT NOT NULL);
                    INSERT INTO platformQueueName VALUES (lower(hex(randomblob(8))));
                    """)
        }
        return migrator
    }
}
