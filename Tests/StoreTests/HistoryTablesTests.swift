import GRDB
import StageMetrics
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("The tables of the history's file")
struct HistoryTablesTests {
    private let directory: TemporaryDirectory
    private let history: HistoryDatabase
    private let participant = SessionParticipant("p", ofStage: "arn:stage/one", sessionID: "st-1")

    init() throws {
        directory = try TemporaryDirectory()
        history = try HistoryDatabase(directory: directory.path)
    }

    private func waiting(for target: String, _ database: Database) throws -> [Int64] {
        try Int64.fetchAll(
            database, sql: "SELECT sequence FROM outbox WHERE target = ? ORDER BY sequence", arguments: [target])
    }

    private func rows(of tables: [String]) throws -> [Int] {
        try history.queue.read { database in
            try tables.map { try Int.fetchOne(database, sql: "SELECT count(*) FROM \($0)") ?? 0 }
        }
    }

    @Test func `an event waits for each receiver until it has taken it, and for nobody who is no receiver any more`() throws {
        defer { history.close() }
        try history.queue.write { database in
            let outbox = Outbox(database)
            try outbox.setTargets(["a", "b"])
            for sequence: Int64 in 1...3 { try outbox.add(sequence) }
            try outbox.remove([1, 3], of: "a")
            #expect(try waiting(for: "a", database) == [2])
            #expect(try waiting(for: "b", database) == [1, 2, 3])
            try outbox.setTargets(["b", "c"])
            #expect(try waiting(for: "a", database) == [])
            try outbox.add(4)
            #expect(try waiting(for: "b", database) == [1, 2, 3, 4])
            #expect(try waiting(for: "c", database) == [4])
        }
    }

    @Test func `a file that cannot be made is told of in the system's words`() {
        defer { history.close() }
        let folder = directory.path + "/none"
        #expect(throws: StoreError.cannotOpen(path: folder + "/events.sqlite", reason: "No such file or directory")) {
            _ = try HistoryDatabase(directory: folder)
        }
    }

    @Test func `SQLite keeps as much of the file in memory as it is told`() throws {
        defer { history.close() }
        let size = try history.queue.read { try Int.fetchOne($0, sql: "PRAGMA cache_size") }
        #expect(size == -DatabaseFile.maximumCache)
    }

    /// SQLite 3.40 found NULL in what is kept of a recording whose participant is never known.
    @Test func `a check of the file finds it whole`() throws {
        defer { history.close() }
        let recording = ParticipantRecording(.stopped, bucketName: "recordings", prefix: "one/st-1/p/t")
        _ = try history.append([.recording(recording, stageARN: "arn:stage/one", sessionID: "st-1", participantID: "p")])
        #expect(try rows(of: ["earlyRecording"]) == [1])
        let found = try history.queue.read { try String.fetchAll($0, sql: "PRAGMA integrity_check") }
        #expect(found == ["ok"])
    }

    /// An older program, after the way back, writes into tables that a newer one has extended.
    @Test func `columns that a newer version added are left to their defaults`() throws {
        defer { history.close() }
        try history.queue.write { database in
            let tables = try String.fetchAll(database, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
            for table in tables where !table.hasPrefix("sqlite") && !table.hasPrefix("grdb") {
                try database.execute(sql: "ALTER TABLE \(table) ADD COLUMN newer TEXT NOT NULL DEFAULT ''")
            }
        }
        _ = try history.recover(at: HistoryDatabaseTests.now, webhooks: ["studio"], sparing: [])
        let recording = ParticipantRecording(.starting, bucketName: "recordings", prefix: "one/st-1/q/t")
        let sample = MetricSample(MetricSeries(.publishers, stage: "one"), MetricPoint(minute: 5, 1))
        let writes = [
            HistoryDatabaseTests.participant(1), HistoryDatabaseTests.event(.joined, 1),
            .recording(recording, stageARN: "arn:stage/one", sessionID: "st-1", participantID: "q"),
        ]
        _ = try history.append(writes + MetricSample.writes([sample, sample]))
        let tables = ["participant", "event", "target", "outbox", "earlyRecording", "metricSeries", "metricPoint"]
        #expect(try rows(of: tables) == [1, 1, 1, 1, 1, 1, 1])
    }

    /// As many numbers as `?`, from 1.
    private static let numbers = "WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ?)"

    @Test func `of what waits for a receiver the newest 100,000 are kept`() throws {
        defer { history.close() }
        try history.queue.write { database in
            let outbox = Outbox(database)
            try outbox.setTargets(["a", "b"])
            try database.execute(
                sql: "INSERT INTO outbox (target, sequence) \(Self.numbers) SELECT 'a', n FROM number", arguments: [100_005])
            try outbox.add(100_006)
            try outbox.bound()
            let kept = try waiting(for: "a", database)
            #expect(kept.count == 100_000 && kept.first == 7)
            #expect(try waiting(for: "b", database) == [100_006])
        }
    }

    /// The bound is looked at with every thousandth.
    @Test func `of what the cluster has not taken the newest 200,000 are kept`() throws {
        defer { history.close() }
        try history.queue.write { database in
            try database.execute(
                sql: "INSERT INTO platformQueue (entry) \(Self.numbers) SELECT '' FROM number", arguments: [200_999])
            try ForwardingQueue(database).add(HistoryDatabaseTests.participant(5))
            #expect(try Int.fetchOne(database, sql: "SELECT count(*) FROM platformQueue") == 200_000)
            #expect(try Int.fetchOne(database, sql: "SELECT min(sequence) FROM platformQueue") == 1_001)
        }
    }

    @Test func `what is of a closed generation is known by its number, also where it was closed twice`() throws {
        defer { history.close() }
        _ = try history.append([HistoryDatabaseTests.participant(5)])
        try history.queue.write { database in
            let closed = ClosedPublishes(database)
            let generations: [UInt64] = [0, 4, 5, 6]
            let before = try generations.map { try closed.contains($0, of: participant) }
            #expect(before == [false, false, false, false])
            try closed.add(5, of: participant)
            try closed.add(4, of: participant)
            let after = try generations.map { try closed.contains($0, of: participant) }
            #expect(after == [false, true, true, false], "what has no generation is nobody's publish")
        }
    }

    /// Every second event of a node of a cluster only waits to be taken: those whose numbers are even.
    @Test func `a receiver that takes nothing is bounded in a cluster too`() throws {
        defer { history.close() }
        try history.queue.write { database in
            let (outbox, log) = (Outbox(database), EventLog(database))
            try outbox.setTargets(["a"])
            try database.execute(
                sql: """
                    WITH RECURSIVE former(number) AS (SELECT -1 UNION ALL SELECT number - 1 FROM former LIMIT ?)
                    INSERT INTO outbox (target, sequence) SELECT 'a', number FROM former
                    """, arguments: [HistoryDatabase.maximumOutbox])
            let event = ParticipantEvent(
                name: .left, time: HistoryDatabaseTests.now, of: .init("p", ofStage: "arn:stage/one", sessionID: "st-1"),
                userID: "u")
            _ = try log.append(event)
            for _ in 0..<1_000 { _ = try log.take(try log.keep(event)) }
            let count = try waiting(for: "a", database).count
            #expect(count <= HistoryDatabase.maximumOutbox + Int(HistoryDatabase.outboxInterval))
        }
    }

    @Test func `what the cluster says waits for nobody`() throws {
        defer { history.close() }
        try history.queue.write { database in
            let queue = ForwardingQueue(database)
            for write in [HistoryDatabaseTests.closed(1), .forwarded(through: 1, taken: []), HistoryDatabaseTests.closed(2)] {
                try queue.add(write)
            }
            #expect(try queue.beginning(limit: 9).writes.map(\.write) == [1, 2].map(HistoryDatabaseTests.closed))
            #expect(try queue.beginning(limit: 1).writes.map(\.sequence) == [1])
            try queue.remove(through: 1)
            #expect(try queue.beginning(limit: 9).writes.map(\.sequence) == [2])
        }
    }

    @Test func `what another version wrote does not stand in the way of what can be read`() throws {
        defer { history.close() }
        try history.queue.write { database in
            let queue = ForwardingQueue(database)
            for _ in 0..<3 { try database.execute(sql: "INSERT INTO platformQueue (entry) VALUES ('{\"later\": {}}')") }
            #expect(try queue.beginning(limit: 2).writes.isEmpty)
            for generation: UInt64 in 1...3 { try queue.add(HistoryDatabaseTests.closed(generation)) }
            #expect(try queue.beginning(limit: 2).writes.map(\.sequence) == [4, 5])
            #expect(try queue.beginning(limit: 0).writes.isEmpty)
        }
    }

    @Test func `its parts make it again elsewhere`() throws {
        defer { history.close() }
        let now = HistoryDatabaseTests.now
        let session = StageSession(stageARN: "arn:stage/one", sessionID: "st-1", startTime: now)
        let recording = HistoryWrite.recording(
            ParticipantRecording(.stopped, bucketName: "b", prefix: "x"), stageARN: "arn:stage/one", sessionID: "st-1",
            participantID: "p")
        let story = [
            HistoryWrite.sessionBegan(session), HistoryDatabaseTests.participant(5), recording,
            HistoryDatabaseTests.event(.joined, 5),
            .sessionEnded(stageARN: "arn:stage/one", sessionID: "st-1", at: now + .seconds(9)),
        ]
        _ = try history.append(story)
        let other = try TemporaryDirectory()
        let again = try HistoryDatabase(directory: other.path)
        defer { again.close() }
        for part in HistoryPart.allCases { _ = try again.append(history.writes(part, offset: 0, limit: 9)) }
        for part in HistoryPart.allCases {
            let writes = try history.writes(part, offset: 0, limit: 9)
            #expect(try again.writes(part, offset: 0, limit: 9) == writes)
            #expect(try history.writes(part, offset: 1, limit: 9) == [])
        }
    }

    @Test func `a part that cannot be read is not taken for an empty one`() throws {
        _ = try history.append([.sessionBegan(StageSession(stageARN: "a", sessionID: "s", startTime: HistoryDatabaseTests.now))])
        try history.queue.write { try $0.execute(sql: "DROP TABLE event") }
        #expect(throws: DatabaseError.self) { try history.writes(.events, offset: 0, limit: 9) }
        history.close()
        let files = try EmbeddedFiles(directory: directory.path)
        defer { files.close() }
        var (count, words) = (0, "")
        do throws(StoreError) {
            try files.eachWrite(at: HistoryDatabaseTests.now) { count += $0.count }
        } catch {
            words = "\(error)"
        }
        #expect(count == 1 && words.contains("the history cannot be read whole") && words.contains("event"), "\(words)")
    }

    @Test func `what is older than it is kept for goes with all that belongs to it`() throws {
        defer { history.close() }
        let now = HistoryDatabaseTests.now
        let session = StageSession(stageARN: "arn:stage/one", sessionID: "st-1", startTime: now)
        let running = StageSession(stageARN: "arn:stage/two", sessionID: "st-2", startTime: now)
        try history.queue.write { try Outbox($0).setTargets(["a"]) }
        _ = try history.append([
            .sessionBegan(session), .sessionBegan(running), HistoryDatabaseTests.participant(5),
            HistoryDatabaseTests.event(.joined, 5), .sessionEnded(stageARN: "arn:stage/one", sessionID: "st-1", at: now),
        ])
        let tables = ["stageSession", "participant", "event", "outbox"]
        try history.removeHistory(before: now)
        #expect(try rows(of: tables) == [2, 1, 1, 1])
        try history.removeHistory(before: now + .nanoseconds(1))
        #expect(try rows(of: tables) == [1, 0, 0, 0])
    }

    /// `one` has somebody connected, `two` nobody; `three` was heard of later.
    private func left(by history: HistoryDatabase) throws -> [String] {
        let now = HistoryDatabaseTests.now
        func event(_ time: WallTime, _ stage: String) -> HistoryWrite {
            .event(
                ParticipantEvent(
                    name: .left, time: time, of: .init("p", ofStage: "arn:stage/\(stage)", sessionID: "st-1"), userID: ""))
        }
        let began = ["one", "two", "three"].map { stage in
            HistoryWrite.sessionBegan(StageSession(stageARN: "arn:stage/\(stage)", sessionID: "st-1", startTime: now))
        }
        _ = try history.append(began + [HistoryDatabaseTests.participant(5)])
        _ = try history.append([event(now, "one"), event(now, "two"), event(now + .seconds(9), "three")])
        try history.removeHistory(before: now + .seconds(1))
        return try history.queue.read { try StageSession.all($0).map(\.stageARN).sorted() }
    }

    @Test func `a node of a cluster keeps no session for ever whose end another node told`() throws {
        defer { history.close() }
        #expect(try left(by: history) == ["arn:stage/one", "arn:stage/three", "arn:stage/two"])
        let other = try TemporaryDirectory()
        let node = try HistoryDatabase(directory: other.path, isQueueing: true)
        defer { node.close() }
        #expect(try left(by: node) == ["arn:stage/one", "arn:stage/three"])
        _ = try node.append([HistoryDatabaseTests.participant(5, isConnected: false)])
        try node.removeHistory(before: HistoryDatabaseTests.now + .seconds(1))
        let kept = try node.queue.read { try StageSession.all($0).map(\.stageARN) }
        #expect(kept == ["arn:stage/three"])
    }
}
