import Admission
import Cluster
import EventLoop
import Redis
import Refusals
import Settings
import Store
import TestSupport
import Testing
import Wire

/// The server silent, killed, or with part of its memory gone (docs/design.md 7.4): media that flows goes on.
@Suite("Leases of a platform, the server away and back", .timeLimit(.minutes(10)), .serialized)
struct ClusterOutageTests {
    /// The product's times, a fifth as long; the grace is what tests wait in.
    private static func quick(_ settings: inout NodeSettings) {
        (settings.cluster.leaseLifetime, settings.cluster.renewalInterval) = (.seconds(2), .milliseconds(600))
        (settings.cluster.heartbeatLifetime, settings.cluster.heartbeatInterval) = (.seconds(2), .milliseconds(200))
        (settings.cluster.silence, settings.cluster.claimPatience) = (.milliseconds(1_200), .milliseconds(500))
    }

    @Test func `a server that is silent for three lifetimes ends nothing, and what it forgot to renew is not taken`() throws {
        let server = try RedisServer()
        let nodes = try ["a", "b"].map { name in
            try TestNode(name, on: server, limits: .impatient) {
                Self.quick(&$0)
                $0.cluster.grace = .seconds(600)
            }
        }
        defer { withExtendedLifetime((server, nodes)) {} }
        for node in nodes { try #require(node.waitUntilReady()) }
        let claims = try (0..<6).map { try TestClaim.granted("p\($0)", at: nodes[$0 % 2]) }
        server.pause()
        #expect(waitUntil { TestClaim("new", at: nodes[0]).settled().refusal?.code == .platformAway })
        let away = EventLoop.monotonicNow()
        waitUntil { EventLoop.monotonicNow() - away > .seconds(6) }
        server.resume()
        // Of others' leases, expired or not, nothing is taken: each is held or waited for.
        for (number, node) in nodes.enumerated() {
            #expect(waitUntil { TestClaim("p\(number)", at: node).settled().incumbent != nil })
            let other = TestClaim("p\(1 - number)", at: node, credential: "another").settled()
            #expect(other.lease == nil)
        }
        #expect(waitUntil { live((0..<6).map { "p\($0)" }, asking: nodes[1])?.count == 6 })
        #expect(claims.allSatisfy { $0.holder.ends.isEmpty })
        // New ones need not wait: the server has forgotten nobody.
        #expect(waitUntil { TestClaim("new", at: nodes[1]).settled().lease != nil })
    }

    @Test func `a server that answers but writes nothing is told once with its words, and once when it writes again`() throws {
        let server = try RedisServer()
        let node = try TestNode("a", on: server) { Self.quick(&$0) }
        defer { withExtendedLifetime((server, node)) {} }
        try #require(node.waitUntilReady())
        _ = try server.ask("CONFIG", "SET", "maxmemory", "1")
        #expect(waitUntil { !node.refusals.withLock { $0.isEmpty } })
        guard case .refused(let refusal)? = node.refusals.withLock({ $0.first ?? nil }) else {
            return #expect(Bool(false), "not told why")
        }
        #expect(refusal.message.contains("maxmemory"))
        #expect(TestClaim("p", at: node).settled().refusal?.code == .platformAway)
        _ = try server.ask("CONFIG", "SET", "maxmemory", "0")
        #expect(waitUntil { node.refusals.withLock { $0.count } == 2 })
        let told = node.refusals.withLock { $0 }
        #expect(told.last == .some(nil))
        #expect(waitUntil { TestClaim("p", at: node).settled().lease != nil })
    }

    @Test func `a node that ends while the server is silent sends nothing more, and tells nothing`() throws {
        let (server, loop) = (try RedisServer(), try EventLoop())
        var settings = NodeSettings(nodeID: "a")
        Self.quick(&settings)
        settings.cluster.silence = .milliseconds(200)
        let leases = ClusterLeases(
            settings: settings,
            environment: ClusterLeases.Environment(
                state: { StoreState() }, record: { _ in }, stageARN: { Stage.named($0).arn }))
        var redis = RedisSettings(.standalone([RedisEndpoint(host: "127.0.0.1", port: server.port)]))
        redis.limits = .ofBusyMachine
        let member = try ClusterMember(loop: loop, leases: leases, redis: redis)
        defer { withExtendedLifetime((server, member)) {} }
        var told = 0
        member.onWritesChange = { _ in told += 1 }
        member.start()
        try #require(loop.run(until: { member.state.isConnected }, within: .seconds(60)))
        server.pause()
        // By then heartbeats are under way.
        _ = loop.run(until: { false }, within: .milliseconds(500))
        member.close()
        // More of them, to a server that is given up, would be called a refusal to write.
        _ = loop.run(until: { told > 0 }, within: .seconds(2))
        #expect(told == 0)
    }

    /// A node that has just come knows of no silence before it.
    @Test func `after a silence nobody is surely gone before all can have said that they live`() throws {
        let server = try RedisServer()
        let (settled, new) = (
            try TestNode("a", on: server) { $0.cluster.grace = .zero },
            try TestNode("b", on: server) { $0.cluster.grace = .seconds(600) }
        )
        defer { withExtendedLifetime((server, settled, new)) {} }
        for node in [settled, new] { try #require(node.waitUntilReady()) }
        _ = try TestClaim.granted("p", at: settled)
        #expect(waitUntil { live(["p", "q"], surely: true, asking: settled) == ["p"] })
        #expect(waitUntil { live(["p", "q"], asking: new) == ["p"] })
        #expect(live(["p", "q"], surely: true, asking: new) == nil)
    }

    @Test func `a server that comes back empty learns from the holders what they hold, and lets nobody in before`() throws {
        let server = try RedisServer()
        let nodes = try ["a", "b"].map { name in
            try TestNode(name, on: server, limits: .impatient) {
                Self.quick(&$0)
                $0.cluster.grace = .seconds(600)
            }
        }
        defer { withExtendedLifetime((server, nodes)) {} }
        let brief = try TestNode("c", on: server, limits: .impatient) {
            Self.quick(&$0)
            $0.cluster.grace = .seconds(3)
        }
        try #require(brief.waitUntilReady())
        for node in nodes { try #require(node.waitUntilReady()) }
        let claims = try (0..<6).map { try TestClaim.granted("p\($0)", at: nodes[$0 % 2]) }
        let session = claims[0].lease?.stageSessionID
        server.kill()
        #expect(waitUntil { TestClaim("new", at: nodes[0]).settled().refusal?.code == .platformAway })
        try server.start()
        #expect(waitUntil { live((0..<6).map { "p\($0)" }, asking: nodes[1])?.count == 6 })
        // Nobody has the participant, but the server cannot know that.
        #expect(TestClaim("new", at: nodes[1]).settled().refusal?.code == .platformAway)
        #expect(claims.allSatisfy { $0.holder.ends.isEmpty })
        var late: TestClaim?
        #expect(
            waitUntil {
                late = TestClaim("new", at: brief).settled()
                return late?.lease != nil
            })
        #expect(late?.lease?.stageSessionID == session)
        #expect(claims.allSatisfy { $0.holder.ends.isEmpty })
    }

    /// The server does not hear that the history knows the session, and forgets the session itself.
    @Test func `a session whose first publish starts while the server is away is shown once that is back`() throws {
        let server = try RedisServer()
        let node = try TestNode("a", on: server, limits: .impatient) { Self.quick(&$0) }
        defer { withExtendedLifetime((server, node)) {} }
        try #require(node.waitUntilReady())
        let lease = try #require(try TestClaim.granted("p", at: node).lease)
        server.kill()
        #expect(waitUntil { TestClaim("new", at: node).settled().refusal?.code == .platformAway })
        node.leases.publishStarted(lease)
        try server.start()
        #expect(waitUntil { activeSession(ofStage: Stage.named("one").arn, asking: node) == lease.stageSessionID })
    }

    /// Nil also while nobody can say.
    private func activeSession(ofStage arn: String, asking node: TestNode) -> String? {
        let answer = Lock<Result<[String: StageSession], StoreError>?>(nil)
        node.leases.activeSessions(ofStages: [arn]) { sessions in answer.withLock { $0 = sessions } }
        waitUntil { answer.withLock { $0 != nil } }
        return try? answer.withLock { $0 }?.get()[arn]?.sessionID
    }

    @Test func `publishers beyond the limit that a failover let in are found, and the newest are ended in words`() throws {
        let server = try RedisServer()
        let nodes = try ["a", "b"].map { name in
            try TestNode(name, on: server) {
                ($0.quotas.publishersPerStage, $0.cluster.renewalInterval) = (2, .milliseconds(500))
            }
        }
        defer { withExtendedLifetime((server, nodes)) {} }
        for node in nodes { try #require(node.waitUntilReady()) }
        let old = ["p", "q"].map { TestClaim($0, at: nodes[0]).settled() }
        try #require(old.allSatisfy { $0.lease != nil })
        // As a replica that did not have the last writes, under the same run id: nobody knows that it forgot.
        var new: [TestClaim] = []
        #expect(
            waitUntil {
                _ = try? server.ask("DEL", "sd:{one}:leases")
                new = ["r", "s"].map { TestClaim($0, at: nodes[1]).settled() }
                if new.allSatisfy({ $0.lease != nil }) { return true }
                for claim in new { if let lease = claim.lease { nodes[1].leases.release(lease) } }
                return false
            })
        #expect(waitUntil { new.allSatisfy { $0.holder.hasEnded } })
        for claim in new {
            guard case .disconnected(let refusal)? = claim.holder.ends.first else { return #expect(Bool(false), "not ended") }
            #expect(refusal.code == .stageFull)
            #expect(refusal.sentence.contains("newest"))
        }
        #expect(old.allSatisfy { $0.holder.ends.isEmpty })
    }

    @Test func `with degraded admission tokens publish while the server is away, and are known when it is back`() throws {
        let server = try RedisServer()
        defer { withExtendedLifetime(server) {} }
        let node = try TestNode("a", on: server, limits: .impatient) {
            Self.quick(&$0)
            $0.cluster.degraded = .admit
        }
        try #require(node.waitUntilReady())
        node.change { $0.attach("ingest", to: "one") }
        server.kill()
        #expect(waitUntil { TestClaim("key", at: node, ingest: "ingest").settled().refusal?.code == .platformAway })
        let admitted = TestClaim("p", at: node).settled()
        #expect(admitted.lease != nil)
        try server.start()
        #expect(waitUntil { live(["p"], asking: node) == ["p"] })
        #expect(admitted.holder.ends.isEmpty)
    }

    @Test func `a node that was taken for dead goes on under a generation that the history takes`() throws {
        let server = try RedisServer()
        let nodes = try ["a", "b"].map { name in
            try TestNode(name, on: server) {
                ($0.cluster.leaseLifetime, $0.cluster.heartbeatLifetime) = (.seconds(300), .seconds(300))
                ($0.cluster.renewalInterval, $0.cluster.heartbeatInterval) = (.milliseconds(300), .milliseconds(200))
            }
        }
        defer { withExtendedLifetime((server, nodes)) {} }
        for node in nodes { try #require(node.waitUntilReady()) }
        let claim = TestClaim("p", at: nodes[0]).settled()
        let lease = try #require(claim.lease)
        nodes[0].leases.publishStarted(lease)
        // Swept by hand, as if its node had been silent, just before it renews.
        #expect(
            waitUntil {
                _ = try? server.ask("HDEL", "sd:{one}:leases", "p")
                _ = try? server.ask("HSET", "sd:{one}:session", "swept:p", "\(lease.generation)")
                return nodes[0].events(.publishStarted, "p").map(\.generation).count == 2
            })
        #expect(nodes[0].events(.publishStarted, "p").map(\.generation).first == lease.generation)
        #expect((nodes[0].events(.publishStarted, "p").map(\.generation).last ?? 0) > lease.generation)
        #expect(claim.holder.ends.isEmpty)
        nodes[0].leases.release(lease)
        #expect(waitUntil { live(["p"], asking: nodes[1]) == [] })
        #expect(nodes[0].events(.publishStarted, "p").count == 2)
        #expect(nodes[0].events(.publishStopped, "p").count == 2)
    }
}
