import EventLoop
import TestSupport
import Testing
import Wire

@testable import Redis

@Suite("Redis client of a cluster", .timeLimit(.minutes(10)), .serialized)
struct RedisClusterTests {
    func bed(_ cluster: RedisCluster, _ adjust: (inout RedisSettings) -> Void = { _ in }) throws -> RedisTestbed {
        var settings = RedisSettings(.cluster(seeds: [RedisEndpoint(host: "127.0.0.1", port: cluster.servers[1].port)]))
        settings.limits = .patient
        adjust(&settings)
        return try RedisTestbed(settings)
    }

    @Test func `every command is answered once and carried out once while a slot moves, and no one meets a redirection`() throws {
        let cluster = try RedisCluster()
        let bed = try bed(cluster)
        #expect(try bed.poll { try cluster.isReady() })
        #expect(bed.waitUntilConnected())
        #expect(bed.client.state.runIDs.count == 3)

        let slot = KeySlot(of: "{stage}").number
        let source = cluster.owner(ofSlot: slot)
        let target = (source + 1) % 3
        let load = ClusterLoad(bed)
        #expect(bed.wait { load.answered > 500 })
        try cluster.beginMoving(slot: slot, from: source, to: target)
        #expect(bed.wait(for: 100, of: load))
        while try cluster.moveKeys(ofSlot: slot, from: source, to: target, count: 50) { #expect(bed.wait(for: 20, of: load)) }
        try cluster.finishMoving(slot: slot, to: target)
        #expect(bed.wait(for: 500, of: load))
        load.stop()
        #expect(bed.wait { load.answered == load.asked })
        // Two keys of which one has gone: when that lasts too long the server's word is the answer, and nothing was done.
        #expect(load.refusals.allSatisfy { $0.code == "TRYAGAIN" }, "\(load.refusals.prefix(5))")
        #expect(load.failures.isEmpty, "\(load.failures.prefix(5))")
        let elsewhere = (0..<100).compactMap { bed.answer(RedisCommand("GET", "elsewhere:\($0)"), key: "elsewhere:\($0)")?.text }
        #expect(elsewhere.compactMap { Int($0) }.reduce(0, +) == load.asked / 4)
        let redirected = try cluster.servers[source].ask("INFO", "errorstats")
        #expect(redirected.contains("errorstat_ASK") && redirected.contains("errorstat_MOVED"), "nothing was redirected")
    }

    @Test func `a primary that dies is told, and its replica takes its place`() throws {
        let cluster = try RedisCluster(replicas: 1, ["cluster-require-full-coverage no"])
        let bed = try bed(cluster)
        #expect(try bed.poll { try cluster.isReady() })
        #expect(bed.waitUntilConnected())
        #expect(bed.answer(RedisCommand("SET", "{bar}", "kept"), key: "{bar}") == .success(.status("OK")))
        #expect(cluster.owner(ofSlot: KeySlot(of: "{bar}").number) == 0)
        // Known to the server at once, and to the client by a heartbeat.
        var replicas = 0
        let write = bed.loop.schedule(after: .zero, repeating: .milliseconds(200)) {
            bed.client.sendDurably(RedisCommand("SET", "{bar}", "kept twice"), key: "{bar}", within: .seconds(10)) {
                replicas = max(replicas, (try? $0.get().replicas) ?? 0)
            }
        }
        #expect(bed.wait { replicas == 1 })
        write.cancel()

        var heard: [String] = []
        var changes: [RedisSubscription.Change] = []
        let subscription = bed.client.subscribe(to: ["news"], onChange: { changes.append($0) }) {
            heard.append(String(decoding: $1, as: UTF8.self))
        }
        #expect(bed.wait { subscription.isListening })
        let before = bed.client.state.runIDs
        cluster.servers[0].kill()
        #expect(bed.wait { !bed.client.state.isConnected })
        // The others go on.
        #expect(bed.answer(RedisCommand("SET", "foo", 1), key: "foo") == .success(.status("OK")))
        #expect(bed.wait { bed.client.state.isConnected && bed.client.state.runIDs != before })
        #expect(bed.client.state.servers.map(\.address).contains(cluster.servers[3].address))
        #expect(bed.answer(RedisCommand("GET", "{bar}"), key: "{bar}")?.text == "kept twice")
        #expect(bed.wait { subscription.isListening })
        #expect(bed.answer(RedisCommand("PUBLISH", "news", "after"))?.isSuccess == true)
        #expect(bed.wait { heard == ["after"] })
    }

    @Test func `without a cluster behind the seeds commands are away and the reason is told`() throws {
        let lonely = try RedisServer()
        var settings = RedisSettings(.cluster(seeds: [RedisEndpoint(host: "127.0.0.1", port: lonely.port)]))
        settings.limits = .patient
        let bed = try RedisTestbed(settings)
        #expect(bed.wait { bed.states.contains { $0.refusal?.code == "ERR" } })
        #expect(bed.answer(RedisCommand("GET", "a"), key: "a") == .failure(.away))
    }
}
