import EventLoop
import Redis
import Store
import TestSupport
import Testing
import Wire

@testable import ClusterStore

/// A database that stops answering this process, as a process that dies stops asking.
private final class DyingServer: DatabaseServer {
    private let server: any DatabaseServer
    /// Questions until the end.
    var remaining = Int.max

    init(_ server: any DatabaseServer) { self.server = server }

    func ask(_ questions: [Question]) throws(StoreError) -> [RedisValue] {
        guard remaining > 0 else { throw .away }
        remaining -= 1
        return try server.ask(questions)
    }

    func settle(_ key: String) throws(StoreError) -> Bool { try server.settle(key) }
}

/// Platforms on one thread, and a clock that is set by hand.
private final class DatabaseBench {
    let bench: ClusterBench
    let loop: EventLoop
    private let client: WaitingClient
    var now = MonotonicTime.zero

    init() throws {
        bench = try ClusterBench()
        loop = try EventLoop()
        client = try WaitingClient(loop: loop, settings: bench.settings("t").redis)
        client.start()
        #expect(client.connect(within: .seconds(60)))
    }

    func open(_ node: String) throws -> (database: ClusterDatabase, server: DyingServer) {
        let server = DyingServer(client)
        let codec = RecordCodec(cipher: RecordCipher(ClusterBench.key))
        let database = ClusterDatabase(server: server, schema: KeySchema(prefix: "sd:"), codec: codec, node: node) {
            [unowned self] in
            now
        }
        try database.reload()
        return (database, server)
    }
}

@Suite("One process's view of a platform", .timeLimit(.minutes(10)))
struct ClusterDatabaseTests {
    private let bench: DatabaseBench
    private let stage = ClusterBench.stage("one")

    init() throws { bench = try DatabaseBench() }

    /// A stage with two keys, deleted as DeleteStage does it: three slots and an index.
    private func prepared() throws -> (database: ClusterDatabase, server: DyingServer) {
        let first = try bench.open("a")
        try first.database.write { transaction in
            transaction.put(stage)
            for id in ["c", "d"] { transaction.put(ClusterBench.configuration(id, stage: stage.arn)) }
        }
        return first
    }

    private func delete(_ database: ClusterDatabase) throws {
        try database.write { transaction in
            for var configuration in transaction.state.ingestConfigurations.values where configuration.stageARN == stage.arn {
                configuration.stageARN = ""
                transaction.put(configuration)
            }
            transaction.removeStage(stage.arn)
        }
    }

    private func attached(_ database: ClusterDatabase) -> Int {
        database.copy.state.ingestConfigurations.values.count { $0.stageARN == stage.arn }
    }

    /// Questions of the commit: before, ingest, ingest, stage, index, after.
    @Test(arguments: 0...6)
    func `what a process that died half-way has changed is seen by all after two seconds`(questions: Int) throws {
        let first = try prepared()
        let second = try bench.open("b")
        first.server.remaining = questions + 1  // The empty list of additions is a question too.
        let isDead = questions < 6
        if isDead {
            #expect(throws: StoreError.away) { try delete(first.database) }
        } else {
            try delete(first.database)
        }
        #expect(try second.database.catchUp() == .followed(unreadable: []))
        bench.now = bench.now + .seconds(2)
        #expect(try second.database.catchUp() == .followed(unreadable: []))
        let third = try bench.open("c")
        for database in [second.database, third.database] {
            #expect(attached(database) == max(0, 2 - max(0, questions - 1)), "keys go first")
            #expect(database.copy.state.stages.count == (questions < 4 ? 1 : 0))
        }
        // The same request again, at any node, ends what was begun.
        try delete(second.database)
        let last = try bench.open("d")
        #expect(attached(last.database) == 0 && last.database.copy.state.stages.isEmpty)
        // Our own view is right as soon as the database answers again.
        first.server.remaining = .max
        #expect(try first.database.catchUp() == .followed(unreadable: []))
        #expect(attached(first.database) == 0 && first.database.copy.state.stages.isEmpty)
    }

    @Test(arguments: 0...5)
    func `of a new stage that was half made, what exists is found by everybody`(questions: Int) throws {
        let (first, second) = (try bench.open("a"), try bench.open("b"))
        first.server.remaining = questions
        let body: (inout StateTransaction) throws -> Void = { [stage] transaction in
            transaction.put(stage)
            transaction.put(ClusterBench.configuration("c", stage: stage.arn))
        }
        #expect(throws: StoreError.away) { try first.database.write(body) }
        bench.now = bench.now + .seconds(2)
        #expect(try second.database.catchUp() == .followed(unreadable: []))
        bench.now = bench.now + .seconds(2)
        #expect(try second.database.catchUp() == .followed(unreadable: []))
        let third = try bench.open("c")
        #expect(third.database.copy.state.stages == second.database.copy.state.stages)
        #expect(third.database.copy.state.ingestConfigurations == second.database.copy.state.ingestConfigurations)
        #expect(third.database.copy.state.stages.count == (questions >= 4 ? 1 : 0))
        try second.database.write(body)
        #expect(try bench.open("d").database.copy.recordCount == 2)
    }

    @Test
    func `an entry that cannot be understood has everything read, once`() throws {
        let first = try bench.open("a")
        let second = try bench.open("b")
        try first.database.write { $0.put(stage) }
        _ = try bench.bench.ask("XADD", "sd:{changes}", "*", "n", "c")
        #expect(try second.database.catchUp() == .lostTrack)
        try second.database.reload()
        #expect(second.database.copy.state.stages[stage.arn] != nil)
        #expect(try second.database.catchUp() == .followed(unreadable: []))
    }

    /// A node that is about to make a record has listed it before.
    @Test
    func `lists that are repaired keep what is about to be made, and everybody reads everything, once`() throws {
        let first = try prepared()
        _ = try bench.bench.ask("DEL", "sd:{index}:stages")
        _ = try bench.bench.ask("SADD", "sd:{index}:ingests", "coming")
        let second = try bench.open("b")
        #expect(second.database.copy.state.stages.isEmpty)
        let missing = try first.database.repairIndexes()
        #expect(missing == 1)
        #expect(try bench.bench.ask("SISMEMBER", "sd:{index}:ingests", "coming") == "1")
        #expect(try second.database.catchUp() == .lostTrack)
        try second.database.reload()
        #expect(second.database.copy.state.stages[stage.arn] != nil)
        #expect(try second.database.catchUp() == .followed(unreadable: []))
    }

    @Test
    func `a transaction runs again on what another node has made meanwhile`() throws {
        let (first, second) = (try prepared(), try bench.open("b"))
        var runs = 0
        try first.database.write { $0.put(Stage(arn: stage.arn, name: "renamed", createdAt: ClusterBench.now)) }
        try second.database.write { transaction in
            runs += 1
            var stage = try #require(transaction.state.stages[stage.arn])
            stage.tags["mine"] = "too"
            transaction.put(stage)
        }
        #expect(runs == 2)
        #expect(second.database.copy.state.stages[stage.arn]?.name == "renamed")
        #expect(second.database.copy.state.stages[stage.arn]?.tags["mine"] == "too")
    }

    /// It has come to life meanwhile, at the node that has its source.
    @Test
    func `an ingest configuration is deleted with its replication, though another node has just changed that`() throws {
        let first = try prepared()
        let key = Replication.Key("p-c", from: stage.arn, to: ClusterBench.stage("two").arn)
        try first.database.write { $0.put(Replication(key, number: "1", startedAt: ClusterBench.now)) }
        let second = try bench.open("b")
        try first.database.write { transaction in
            _ = transaction.activate(
                key, number: "1", sourceSessionID: "st-a", destinationSessionID: "st-b", generation: 7)
        }
        let arn = ClusterBench.configuration("c").arn
        let stopped = try second.database.write { transaction -> [Replication] in
            _ = try #require(transaction.state.ingestConfigurations[arn])
            transaction.removeIngestConfiguration(arn)
            return transaction.stopReplications { $0.participantID == "p-c" }
        }
        #expect(stopped.map(\.state) == [.stopped])
        #expect(second.database.copy.state.ingestConfigurations[arn] == nil)
    }

    @Test
    func `a record deleted and made again is another one for who knew the old one`() throws {
        let (first, second) = (try prepared(), try bench.open("b"))
        try first.database.write { $0.removeStage(stage.arn) }
        try first.database.write { $0.put(Stage(arn: stage.arn, name: "again", createdAt: ClusterBench.now)) }
        var names: [String?] = []
        try second.database.write { transaction in
            names.append(transaction.state.stages[stage.arn]?.name)
            transaction.put(Stage(arn: stage.arn, name: "last", createdAt: ClusterBench.now))
        }
        #expect(names == ["n-one", "again"])
    }

    @Test
    func `a placement moves at one node only`() throws {
        let (first, second) = (try prepared(), try bench.open("b"))
        let key = Placement.Key(stageID: "one", replica: 0)
        let placed = try first.database.write { $0.place(key, on: "x", expected: nil, now: ClusterBench.now) }
        let lost = try second.database.write { $0.place(key, on: "y", expected: nil, now: ClusterBench.now) }
        #expect(lost == placed)
    }

    @Test
    func `nothing that changes nothing is written`() throws {
        let first = try prepared()
        first.server.remaining = 0
        try first.database.write { transaction in
            transaction.put(stage)
            transaction.removeRevocation(participantID: "nobody", stageARN: stage.arn)
        }
    }

    @Test
    func `a list of 140,000 records is read`() throws {
        let database = try bench.open("a").database
        let list = "for i = 1, 140000 do redis.call('SADD', KEYS[1], 'abcdefgh' .. i) end return 1"
        #expect(try bench.bench.ask("EVAL", list, "1", database.loader.schema.index(.stages)) == "1")
        #expect(try database.loader.listings(of: .stages).count == 140_000)
    }

    @Test
    func `a body that throws writes nothing`() throws {
        struct Refused: Error {}
        let first = try prepared()
        #expect(throws: Refused.self) {
            try first.database.write { transaction in
                transaction.removeStage(stage.arn)
                throw Refused()
            }
        }
        #expect(try bench.open("b").database.copy.state.stages.count == 1)
    }

    @Test
    func `a revocation leaves memory and database with the last token`() throws {
        let first = try prepared()
        let now = EventLoop.wallNow()
        try first.database.write {
            $0.put(Revocation(stageARN: stage.arn, participantID: "p", expiresAt: now + .milliseconds(300)))
        }
        #expect(first.database.copy.state.isRevoked(participantID: "p", stageARN: stage.arn, at: now))
        // Waits for the server's clock.
        let isGone = bench.loop.run(
            until: { (try? bench.bench.ask("EXISTS", "sd:{one}:revocation:p")) == "0" }, within: .seconds(60))
        #expect(isGone)
        first.database.doubtExpired(at: now + .seconds(1))
        _ = try first.database.catchUp()
        #expect(first.database.copy.recordCount == 3)
        #expect(try bench.open("b").database.copy.recordCount == 3)
        #expect(try bench.bench.ask("SCARD", "sd:{one}:members") == "0")
    }

    @Test
    func `a clock that is ahead for a while loses no revocation`() throws {
        let first = try prepared()
        let now = EventLoop.wallNow()
        try first.database.write {
            $0.put(Revocation(stageARN: stage.arn, participantID: "p", expiresAt: now + .seconds(3_600)))
        }
        first.database.doubtExpired(at: now + .seconds(7_200))
        _ = try first.database.catchUp()
        #expect(first.database.copy.state.isRevoked(participantID: "p", stageARN: stage.arn, at: now))
    }
}
