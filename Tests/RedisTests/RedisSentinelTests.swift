import EventLoop
import Redis
import TestSupport
import Testing
import Wire

@Suite("Redis client behind Sentinel", .timeLimit(.minutes(10)), .serialized)
struct RedisSentinelTests {
    func bed(_ group: RedisFailoverGroup, _ adjust: (inout RedisSettings) -> Void = { _ in }) throws -> RedisTestbed {
        let sentinels = group.sentinels.map { RedisEndpoint(host: "127.0.0.1", port: $0.port) }
        var settings = RedisSettings(.sentinel(primary: RedisFailoverGroup.name, sentinels: sentinels))
        settings.limits = .patient
        adjust(&settings)
        return try RedisTestbed(settings)
    }

    @Test func `commands follow the primary through failovers, and each is answered once`() throws {
        let group = try RedisFailoverGroup()
        let bed = try bed(group) { $0.limits.expectAnswers(within: .seconds(2)) }
        #expect(bed.waitUntilConnected())
        #expect(bed.client.state.servers.map(\.address) == [group.servers[0].address])
        #expect(try bed.poll { try group.isReady() })

        var changes: [RedisSubscription.Change] = []
        var heard: [String] = []
        let subscription = bed.client.subscribe(to: ["news"], onChange: { changes.append($0) }) {
            heard.append(String(decoding: $1, as: UTF8.self))
        }
        #expect(bed.wait { changes.last == .listening })
        var (asked, answered, acknowledged) = (0, 0, 0)
        let load = bed.loop.schedule(after: .zero, repeating: .milliseconds(10)) {
            asked += 1
            bed.client.send(RedisCommand("INCR", "n")) { reply in
                answered += 1
                if case .success = reply { acknowledged += 1 }
            }
        }
        #expect(try bed.poll { try group.sentinels[0].ask("SENTINEL", "FAILOVER", RedisFailoverGroup.name) == "OK" })
        #expect(bed.wait { bed.client.state.servers.map(\.address) == [group.servers[1].address] })
        // The old primary dies as a replica of the new one; with it a sentinel falls silent. Then it is the other way round.
        // Sentinels, once they agree on the new one, would wait for eight seconds before they make a replica of the old one.
        #expect(
            try bed.poll {
                try group.sentinels.allSatisfy { try group.primary(accordingTo: $0) === group.servers[1] }
            })
        try group.servers[0].ask("REPLICAOF", "127.0.0.1", "\(group.servers[1].port)")
        // A server that becomes a replica cuts its connections: whoever asks just then asks again.
        #expect(try bed.poll { (try? group.servers[0].ask("INFO", "replication").contains("master_link_status:up")) == true })
        group.sentinels[2].pause()
        group.servers[1].kill()
        #expect(bed.wait { bed.client.state.servers.map(\.address) == [group.servers[0].address] })
        let atFailover = acknowledged
        #expect(bed.wait { acknowledged > atFailover + 10 })
        load.cancel()
        #expect(bed.wait { answered == asked })

        #expect(bed.wait { changes.last == .listening && subscription.isListening })
        #expect(changes.count >= 3)
        #expect(bed.answer(RedisCommand("PUBLISH", "news", "after"))?.isSuccess == true)
        #expect(bed.wait { heard == ["after"] })
    }

    @Test func `a name that the sentinels do not know is told, and sentinels with a password are asked with it`() throws {
        let primary = try RedisServer(["requirepass data"])
        let sentinel = try RedisServer(
            ["requirepass watch", "sentinel monitor gate 127.0.0.1 \(primary.port) 1", "sentinel auth-pass gate data"],
            isSentinel: true)
        func bed(_ name: String, _ password: String) throws -> RedisTestbed {
            var settings = RedisSettings(
                .sentinel(
                    primary: name, sentinels: [RedisEndpoint(host: "localhost", port: sentinel.port)],
                    credential: RedisCredential(password: Secret(password))))
            settings.credential = RedisCredential(password: Secret("data"))
            settings.limits = .patient
            return try RedisTestbed(settings)
        }
        let right = try bed("gate", "watch")
        #expect(right.waitUntilConnected())
        #expect(right.answer("PING") == .success(.status("PONG")))
        let stranger = try bed("gate", "data")
        #expect(stranger.wait { stranger.states.contains { $0.refusal?.code == "WRONGPASS" } })
        let nobody = try bed("door", "watch")
        #expect(nobody.wait { nobody.states.contains { $0.fault == .notFound("door at the sentinels") } })
        #expect(nobody.answer("PING") == .failure(.away))
    }
}
