import EventLoop
import Foundation
import OpenSSL
import Redis
import Settings
import Store
import Synchronization
import TestSupport
import Testing
import Wire

@testable import ClusterStore

@Suite("The store of many gateways", .timeLimit(.minutes(10)))
struct RedisStoreTests {
    @Test
    func `every record survives, is seen at the other node and by one that comes later`() async throws {
        let bench = try ClusterBench()
        let (first, second) = (try bench.node("a"), try bench.node("b"))
        let stage = ClusterBench.stage("one")
        let key = PublicKey(
            arn: ResourceName().arn(.publicKey, "k"), name: "key", material: "PEM", fingerprint: "00:11", tags: ["x": "y"],
            createdAt: ClusterBench.now)
        let placement = try await first.write { transaction in
            transaction.put(stage)
            transaction.put(key)
            transaction.put(ClusterBench.configuration("c", stage: stage.arn))
            transaction.put(Revocation(stageARN: stage.arn, participantID: "p", expiresAt: ClusterBench.now))
            transaction.setSetting("name", to: Secret("value"))
            return transaction.place(.init(stageID: "one", replica: 0), on: "a", expected: nil, now: ClusterBench.now)
        }
        try await eventually { second.state.setting("name") != nil }
        for state in [first.state, second.state, try bench.node("c").state] {
            #expect(state.stages == [stage.arn: stage])
            #expect(state.publicKeys == [key.arn: key])
            #expect(state.ingestConfigurations.values.map { $0 } == [ClusterBench.configuration("c", stage: stage.arn)])
            #expect(state.isRevoked(participantID: "p", stageARN: stage.arn, at: WallTime(secondsSince1970: 1)))
            #expect(state.setting("name") == Secret("value"))
            #expect(state.placements == [placement.key: placement])
        }
        try await second.write { transaction in
            transaction.removeIngestConfiguration(ClusterBench.configuration("c").arn)
            transaction.removePublicKey(key.arn)
            transaction.removeStage(stage.arn)
        }
        try await eventually { first.state.publicKeys.isEmpty }
        #expect(first.state.placements.isEmpty && first.state.stages.isEmpty && first.state.ingestConfigurations.isEmpty)
    }

    /// By polls alone every stage but the first would take a whole interval: it is made just after the
    /// poll that brought the one before.
    @Test
    func `a stage made at one node is seen at the other when it is told, not when it asks`() async throws {
        let bench = try ClusterBench()
        let seen = Lock<Set<String>>([])
        var observers = RedisStore.Observers()
        observers.onChange = { state in seen.withLock { $0.formUnion(state.stages.keys) } }
        let (first, second) = (try bench.node("a"), try bench.node("b", observers: observers))
        try await eventually { !second.store.statistics.isAway }
        var times: [Duration] = []
        for index in 0..<50 {
            let stage = ClusterBench.stage("s\(index)")
            try await first.write { $0.put(stage) }
            let written = ContinuousClock.now
            try await eventually { seen.withLock { $0.contains(stage.arn) } }
            times.append(ContinuousClock.now - written)
        }
        times.sort()
        print("visible at the other node after: median \(times[25]), longest \(times[49])")
        #expect(times[4] < StoreThread.pollInterval / 2, "\(times)")
    }

    @Test
    func `of 200 transactions that all change one record none is lost`() async throws {
        let bench = try ClusterBench()
        let nodes = [try bench.node("a"), try bench.node("b")]
        let stage = ClusterBench.stage("one")
        try await nodes[0].write { $0.put(stage) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<200 {
                group.addTask {
                    let node = nodes[index % 2]
                    while true {
                        do {
                            try await node.write { transaction in
                                var changed = transaction.state.stages[stage.arn] ?? stage
                                changed.tags["t\(index)"] = ""
                                transaction.put(changed)
                            }
                            return
                        } catch StoreError.overloaded { continue }
                    }
                }
            }
            try await group.waitForAll()
        }
        let expected = Set((0..<200).map { "t\($0)" } + ["team"])
        for node in nodes { try await eventually { Set(node.state.stages[stage.arn]?.tags.keys.map { $0 } ?? []) == expected } }
        print("conflicts: \(nodes.map(\.store.statistics.conflicts))")
    }

    @Test
    func `a server that is killed loses no write that was acknowledged, and nodes catch up`() async throws {
        let bench = try ClusterBench(["appendonly yes", "appendfsync always"])
        let (first, second) = (try bench.node("a"), try bench.node("b"))
        let acknowledged = Lock<[String]>([])
        let writer = Task {
            for index in 0..<100_000 {
                if Task.isCancelled { return }
                let stage = ClusterBench.stage("s\(index)")
                guard (try? await first.write { $0.put(stage) }) != nil else { continue }
                acknowledged.withLock { $0.append(stage.arn) }
            }
        }
        try await eventually { acknowledged.withLock { $0.count } > 20 && !second.state.stages.isEmpty }
        bench.server.withLock { $0.kill() }
        try await eventually { first.store.statistics.isAway && second.store.statistics.isAway }
        let count = acknowledged.withLock { $0.count }
        await #expect(throws: StoreError.away) { try await second.write { $0.put(ClusterBench.stage("refused")) } }
        #expect(!second.state.stages.isEmpty, "what is in memory stays good")
        try bench.server.withLock { try $0.start() }
        try await eventually { acknowledged.withLock { $0.count } > count }
        writer.cancel()
        await writer.value
        let expected = acknowledged.withLock { Set($0) }
        try await eventually { expected.isSubset(of: second.state.stages.keys) && expected.isSubset(of: first.state.stages.keys) }
        #expect(expected.isSubset(of: try bench.node("c").state.stages.keys))
    }

    /// What was sent and not answered is carried out when the server wakes, or is not: everybody sees the same.
    @Test
    func `over a pause of the server nodes agree with it and with each other`() async throws {
        let bench = try ClusterBench()
        let (first, second) = (try bench.node("a"), try bench.node("b"))
        let acknowledged = Lock<Set<String>>([])
        let writers = [first, second].enumerated().map { number, node in
            Task {
                for index in 0..<100_000 {
                    if Task.isCancelled { return }
                    let stage = ClusterBench.stage("s\(number)x\(index)")
                    guard (try? await node.write { $0.put(stage) }) != nil else { continue }
                    acknowledged.withLock { _ = $0.insert(stage.arn) }
                }
            }
        }
        try await eventually { acknowledged.withLock { $0.count } > 20 }
        bench.server.withLock { $0.pause() }
        try await eventually { first.store.statistics.isAway && second.store.statistics.isAway }
        let count = acknowledged.withLock { $0.count }
        bench.server.withLock { $0.resume() }
        try await eventually { acknowledged.withLock { $0.count } > count + 20 }
        for writer in writers {
            writer.cancel()
            await writer.value
        }
        let stored = try bench.node("c").state.stages
        #expect(acknowledged.withLock { $0 }.isSubset(of: stored.keys))
        try await eventually { first.state.stages == stored && second.state.stages == stored }
    }

    @Test
    func `a node that does not find its place in the stream reads everything anew`() async throws {
        let bench = try ClusterBench()
        let (first, second) = (try bench.node("a"), try bench.node("b"))
        try await eventually { !second.store.statistics.isAway }
        // Changed and trimmed while nobody could tell: by the hand of an operator, or in a failover.
        try await first.write { $0.put(ClusterBench.stage("one")) }
        _ = try bench.ask("DEL", "sd:{changes}")
        try await first.write { $0.put(ClusterBench.stage("two")) }
        try await eventually { second.state.stages.count == 2 && second.store.statistics.reloads > 0 }
    }

    /// As a server without `appendfsync always` does, or a replica that was behind.
    @Test
    func `a node whose own newest write the server has lost does not go on showing it`() async throws {
        let bench = try ClusterBench()
        let (first, second) = (try bench.node("a"), try bench.node("b"))
        try await first.write { $0.put(ClusterBench.stage("kept")) }
        try await eventually { second.state.stages.count == 1 && !first.store.statistics.isAway }
        let kept = try bench.ask("XINFO", "STREAM", "sd:{changes}").split(whereSeparator: \.isNewline)
        let newest = try #require(kept.firstIndex(of: "last-generated-id").map { String(kept[$0 + 1]) })
        try await first.write { $0.put(ClusterBench.stage("lost")) }
        let entries = try bench.ask("XRANGE", "sd:{changes}", "(" + newest, "+").split(whereSeparator: \.isNewline)
        for id in entries where id.contains("-") && id.allSatisfy({ $0.isNumber || $0 == "-" }) {
            _ = try bench.ask("XDEL", "sd:{changes}", String(id))
        }
        _ = try bench.ask("DEL", "sd:{lost}:stage")
        try await eventually { first.state.stages.keys.allSatisfy { $0.hasSuffix("kept") } }
        try await eventually { second.state.stages.count == 1 }
    }

    @Test
    func `a node that ends does not say that the servers are away`() throws {
        let bench = try ClusterBench()
        let notices = Lock<[ClusterStoreNotice]>([])
        var observers = RedisStore.Observers()
        observers.onNotice = { notice in notices.withLock { $0.append(notice) } }
        let node = try bench.node("a", observers: observers)
        node.store.close()
        #expect(notices.withLock { $0.contains { if case .away = $0 { true } else { false } } } == false)
    }

    @Test
    func `a server that has lost everything takes no stage and gets no history, and is believed once restored`() async throws {
        let bench = try ClusterBench()
        let notices = Lock<[ClusterStoreNotice]>([])
        var observers = RedisStore.Observers()
        observers.onNotice = { notice in notices.withLock { $0.append(notice) } }
        let node = try bench.node("a", observers: observers)
        try await node.write { $0.put(ClusterBench.stage("one")) }
        let check = try bench.ask("GET", "sd:{platform}:check")
        _ = try bench.ask("FLUSHALL")
        try await eventually {
            notices.withLock { $0.contains { if case .away(let reason) = $0 { reason.contains("has lost") } else { false } } }
        }
        #expect(node.state.stages.count == 1)
        node.store.record(ClusterHistoryTests.start(7))
        for _ in 0..<3 {
            await #expect(throws: StoreError.away) { try await node.write { $0.put(ClusterBench.stage("two")) } }
        }
        // As of a back-up from before the stage.
        _ = try bench.ask("FLUSHALL")
        _ = try bench.ask("SET", "sd:{platform}:check", check)
        try await eventually { node.state.stages.isEmpty }
        try await eventually { try await node.read { try $0.events(after: 0, limit: 9).count } == 2 }
    }

    /// They may be on another server of a cluster than the check key.
    @Test
    func `servers that have lost the lists alone are not believed either, until these are made anew`() async throws {
        let bench = try ClusterBench()
        let losses = Lock(0)
        var observers = RedisStore.Observers()
        observers.onNotice = { notice in
            if case .away(let reason) = notice, reason.contains("has lost") { losses.withLock { $0 += 1 } }
        }
        let node = try bench.node("a", observers: observers)
        try await node.write { transaction in
            transaction.put(ClusterBench.stage("one"))
            transaction.setSetting("name", to: Secret("value"))
        }
        _ = try bench.ask("DEL", "sd:{index}:stages", "sd:{index}:settings", "sd:{changes}")
        try await eventually { losses.withLock { $0 == 1 } }
        await #expect(throws: StoreError.away) { try await node.write { $0.put(ClusterBench.stage("two")) } }
        #expect(node.state.stages.count == 1)
        let mended = try IndexRepair(bench.settings("doctor")).run()
        #expect(mended == 2)
        try await eventually { node.store.statistics.reloads > 0 }
        #expect(node.state.stages.count == 1)
    }

    /// Else the log's last word would be that they are back.
    @Test
    func `that servers have lost everything is told again once they are back without it`() async throws {
        let bench = try ClusterBench()
        let losses = Lock(0)
        var observers = RedisStore.Observers()
        observers.onNotice = { notice in
            if case .away(let reason) = notice, reason.contains("has lost") { losses.withLock { $0 += 1 } }
        }
        let node = try bench.node("a", observers: observers)
        try await node.write { $0.put(ClusterBench.stage("one")) }
        _ = try bench.ask("FLUSHALL")
        try await eventually { losses.withLock { $0 == 1 } }
        _ = try bench.ask("CLIENT", "KILL", "TYPE", "normal")
        try await eventually { losses.withLock { $0 == 2 } }
        #expect(node.state.stages.count == 1)
    }

    @Test
    func `no secret is in the database in clear`() async throws {
        let bench = try ClusterBench()
        let node = try bench.node("a")
        try await node.write { transaction in
            transaction.put(ClusterBench.configuration("c"))
            transaction.setSetting("signing", to: Secret("sign-with-me"))
        }
        let everything = try bench.ask("EVAL", Self.dump, "0")
        #expect(everything.contains("p-c"), "the walk sees the record")
        for secret in ["s3cret", "second", "sign-with-me"] { #expect(!everything.contains(secret)) }
        #expect(node.state.setting("signing") == Secret("sign-with-me"))
    }

    /// All keys and values as one text.
    private static let dump = """
        local out = {}
        for _, key in ipairs(redis.call('KEYS', '*')) do
          local kind = redis.call('TYPE', key).ok
          local value = ''
          if kind == 'hash' then value = redis.call('HGETALL', key)
          elseif kind == 'set' then value = redis.call('SMEMBERS', key)
          elseif kind == 'stream' then value = redis.call('XRANGE', key, '-', '+')
          elseif kind == 'string' then value = redis.call('GET', key) end
          out[#out + 1] = key .. ' ' .. cjson.encode(value)
        end
        return table.concat(out, '\\n')
        """

    @Test
    func `a record that cannot be understood counts as absent and is told`() async throws {
        let bench = try ClusterBench()
        let first = try bench.node("a")
        try await first.write { $0.put(ClusterBench.stage("one")) }
        _ = try bench.ask("HSET", "sd:{one}:stage", "d", "{}")
        let notices = Lock<[ClusterStoreNotice]>([])
        var observers = RedisStore.Observers()
        observers.onNotice = { notice in notices.withLock { $0.append(notice) } }
        let second = try bench.node("b", observers: observers)
        try await eventually { notices.withLock { $0.contains(.unreadable(key: "sd:{one}:stage")) } }
        #expect(second.state.stages.isEmpty && first.state.stages.count == 1)
    }

    @Test
    func `another database key is refused at start, in words`() async throws {
        let bench = try ClusterBench()
        _ = try bench.node("a")
        let other = try #require(PlatformKey(Secret([UInt8](repeating: 8, count: 32))))
        let error = #expect(throws: StoreError.self) { try TestNode(bench.settings("b", key: other)) }
        #expect("\(try #require(error))".contains("platform key"))
    }

    @Test
    func `a database that is not there is said at start, in words`() throws {
        let bench = try ClusterBench()
        var settings = bench.settings("a")
        settings.cluster.startTimeout = .milliseconds(500)
        bench.server.withLock { $0.kill() }
        let error = #expect(throws: StoreError.self) { try TestNode(settings) }
        #expect("\(try #require(error))".contains("cannot open the cluster's database"))
    }

    @Test
    func `lists that were lost are made anew from the records`() async throws {
        let bench = try ClusterBench()
        let node = try bench.node("a")
        try await node.write { transaction in
            transaction.put(ClusterBench.stage("one"))
            transaction.put(ClusterBench.configuration("c"))
            transaction.setSetting("name", to: Secret("value"))
        }
        _ = try bench.ask("DEL", "sd:{index}:stages", "sd:{index}:settings")
        _ = try bench.ask("SADD", "sd:{index}:ingests", "gone")
        let between = try bench.node("b")
        #expect(between.state.stages.isEmpty)
        let repair = IndexRepair(bench.settings("doctor"))
        let mended = try repair.run()
        #expect(mended == 2)
        try await eventually { between.state.stages.count == 1 && between.state.setting("name") != nil }
        let again = try repair.run()
        #expect(again == 0)
        let later = try bench.node("c").state
        #expect(later.stages.count == 1 && later.setting("name") != nil && later.ingestConfigurations.count == 1)
    }

    /// Nodes that run would believe them, and take all stages for deleted.
    @Test
    func `who repairs lists makes no platform of servers that have lost theirs`() throws {
        let bench = try ClusterBench()
        let repair = IndexRepair(bench.settings("doctor"))
        #expect(throws: StoreError.self) { try repair.run() }
        #expect(try bench.ask("EXISTS", "sd:{platform}:check", "sd:{changes}") == "0")
    }

    @Test
    func `nodes that start together agree on what they seed`() async throws {
        let bench = try ClusterBench()
        let made = try await withThrowingTaskGroup(of: Secret?.self) { group in
            for index in 0..<6 {
                group.addTask {
                    let directory = try TemporaryDirectory()
                    let store = try RedisStore(bench.settings("n\(index)"), directory: directory.path) { transaction in
                        if transaction.state.setting("made") == nil {
                            transaction.setSetting("made", to: Secret("\(index)"))
                        }
                    }
                    defer { store.close() }
                    return store.state.setting("made")
                }
            }
            return try await group.reduce(into: [Secret?]()) { $0.append($1) }
        }
        #expect(made.count == 6 && made.allSatisfy { $0 == made[0] && $0 != nil })
    }
}
