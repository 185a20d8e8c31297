import GRDB
import StageMetrics
import Wire

/// What happened: sessions, participants, events and the outbox of webhooks in `events.sqlite`, with `synchronous=NORMAL`.
///
/// A killed process loses nothing of it; a power failure may lose the last moments, as events are best effort. What writes and
/// reads it lives no longer than its transaction: `HistoryTransaction` and `EmbeddedHistory`.
struct HistoryDatabase: Sendable {
    private let isQueueing: Bool
    let queue: DatabaseQueue

    /// - Parameter isQueueing: everything appended waits in a queue too, until the cluster has it.
    init(directory: String, isQueueing: Bool = false) throws(StoreError) {
        self.isQueueing = isQueueing
        queue = try DatabaseFile.open("\(directory)/events.sqlite", synchronous: "NORMAL", migrator: Self.migrator)
    }

    func close() { try? queue.close() }

    /// Appends in one transaction; returns the events among the writes, with their numbers.
    func append(_ writes: [HistoryWrite]) throws -> [ParticipantEvent] {
        try queue.write { database in
            let transaction = HistoryTransaction(database, isQueueing: isQueueing)
            return try writes.flatMap { try transaction.append($0) }
        }
    }

    func read<Value>(_ body: (EmbeddedHistory) throws -> Value) throws -> Value {
        try queue.read { try body(EmbeddedHistory($0)) }
    }

    /// Mends what a process that died could not write, and takes note of the webhooks.
    ///
    /// - Parameter living: participants that another process of this gateway keeps.
    func recover(at now: WallTime, webhooks: [String], sparing living: Set<LivingParticipant>) throws -> EmbeddedStore.Recovered {
        try queue.write { database in
            try Outbox(database).setTargets(webhooks)
            try HistoryTransaction(database, isQueueing: isQueueing).endAbandoned(at: now, sparing: living)
            let reader = EmbeddedHistory(database)
            return try EmbeddedStore.Recovered(
                activeSessions: reader.activeSessions(), highestGeneration: reader.highestGeneration())
        }
    }

    func endAbandoned(at now: WallTime) throws {
        try queue.write { try HistoryTransaction($0, isQueueing: isQueueing).endAbandoned(at: now, sparing: []) }
    }

    func writes(_ part: HistoryPart, offset: Int, limit: Int) throws -> [HistoryWrite] {
        try queue.read { try part.writes(in: $0, offset: offset, limit: limit) }
    }
}

/// The bounds of it, so that neither time nor crowds fill the disk.
extension HistoryDatabase {
    /// Entries of one receiver's outbox, at most; beyond it the oldest are dropped.
    static let maximumOutbox = 100_000
    /// That is enforced once in this many events. A prime: in a cluster every second one only waits to be taken.
    static let outboxInterval: Int64 = 997
    /// Entries of the queue for the cluster, at most; beyond it the oldest are dropped.
    static let maximumQueued = 200_000
    /// Participants of one session that never published and have left; the oldest are dropped beyond it. Who published stays as
    /// long as the history does.
    static let maximumFormerViewers = 5_000
    /// Events of one participant in one session, warnings not counted.
    static let maximumParticipantEvents = 1_000
    /// A session's bounds are enforced once in this many events. A prime: no pattern of events escapes it.
    static let boundingInterval: Int64 = 251

    /// Forgets events that are older, sessions that ended before or were heard of last, and what belongs to them.
    func removeHistory(before time: WallTime) throws {
        try queue.write { database in
            let limit = StatementArguments([time.nanosecondsSince1970])
            try database.execute(sql: "DELETE FROM event WHERE time < ?", arguments: limit)
            try database.execute(sql: "DELETE FROM outbox WHERE sequence NOT IN (SELECT sequence FROM event)")
            try database.execute(sql: "DELETE FROM stageSession WHERE endTime < ?", arguments: limit)
            if isQueueing { try database.execute(sql: Self.endedElsewhere, arguments: limit) }
            for table in ["participant", "earlyRecording"] {
                try database.execute(
                    sql: "DELETE FROM \(table) WHERE (stageARN, sessionID) NOT IN (SELECT stageARN, sessionID FROM stageSession)")
            }
        }
    }

    /// Sessions that began before, of which a node of a cluster has neither events any more nor anybody connected. Which node
    /// tells of a session's end is for chance to say: the others never know it.
    private static let endedElsewhere = """
        DELETE FROM stageSession WHERE endTime IS NULL AND startTime < ?
            AND NOT EXISTS (SELECT 1 FROM event
                WHERE event.stageARN = stageSession.stageARN AND event.sessionID = stageSession.sessionID)
            AND NOT EXISTS (SELECT 1 FROM participant
                WHERE participant.stageARN = stageSession.stageARN AND participant.sessionID = stageSession.sessionID
                    AND isConnected)
        """

    /// Forgets points of metrics that are older, and the oldest beyond so many.
    func removeMetrics(before minute: Int32, maximumPoints: Int = MetricRetention.maximumPoints) throws {
        try queue.write { try MetricTables($0).remove(before: minute, maximumPoints: maximumPoints) }
    }
}
