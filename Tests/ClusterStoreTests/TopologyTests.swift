import EventLoop
import Redis
import Settings
import Store
import TestSupport
import Testing
import Wire

@testable import ClusterStore

@Suite("The store on more than one server", .timeLimit(.minutes(10)), .serialized)
struct TopologyTests {
    private static func settings(_ topology: RedisSettings.Topology, _ node: String) -> RedisStoreSettings {
        var settings = RedisStoreSettings(redis: RedisSettings(topology), platformKey: ClusterBench.key, node: node)
        settings.cluster.startTimeout = .seconds(60)
        return settings
    }

    private static func endpoint(_ server: RedisServer) -> RedisEndpoint { RedisEndpoint(host: "127.0.0.1", port: server.port) }

    /// Writes one stage after the other until told otherwise; what was acknowledged is kept.
    private static func write(_ node: TestNode, _ acknowledged: Lock<Set<String>>) async {
        var index = 0
        while !Task.isCancelled {
            index += 1
            let stage = ClusterBench.stage("s\(index)")
            do {
                try await node.write { transaction in
                    transaction.put(stage)
                    transaction.put(ClusterBench.configuration("c\(stage.id)", stage: stage.arn))
                }
            } catch {
                continue
            }
            acknowledged.withLock { _ = $0.insert(stage.arn) }
        }
    }

    @Test
    func `a cluster of three takes transactions over several slots, and its lists can be mended`() async throws {
        let cluster = try RedisCluster()
        try await eventually { try cluster.isReady() }
        let topology = RedisSettings.Topology.cluster(seeds: cluster.servers.prefix(2).map(Self.endpoint))
        let first = try TestNode(Self.settings(topology, "a"))
        let second = try TestNode(Self.settings(topology, "b"))
        let acknowledged = Lock<Set<String>>([])
        let writer = Task { await Self.write(first, acknowledged) }
        try await eventually { acknowledged.withLock { $0.count } >= 30 }
        writer.cancel()
        await writer.value
        let expected = acknowledged.withLock { $0 }
        try await eventually { expected.isSubset(of: second.state.stages.keys) }
        #expect(second.state.ingestConfigurations.count >= expected.count)
        first.store.record(ClusterHistoryTests.story)
        let eventCount = ClusterHistoryTests.storyEventCount
        try await eventually { try await second.read { try $0.events(after: 0, limit: 100).count } == eventCount }
        for server in cluster.primaries {
            _ = try? server.ask("DEL", "sd:{index}:stages")
            _ = try? server.ask("DEL", "sd:{index}:ingests")
        }
        let mended = try IndexRepair(Self.settings(topology, "doctor")).run()
        #expect(mended >= 2 * expected.count)
        let third = try TestNode(Self.settings(topology, "c"))
        #expect(expected.isSubset(of: third.state.stages.keys))
    }

    @Test
    func `a slot that moves under writes loses none`() async throws {
        let cluster = try RedisCluster()
        try await eventually { try cluster.isReady() }
        let topology = RedisSettings.Topology.cluster(seeds: cluster.servers.prefix(2).map(Self.endpoint))
        let (first, second) = (
            try TestNode(Self.settings(topology, "a")), try TestNode(Self.settings(topology, "b"))
        )
        let acknowledged = Lock<Set<String>>([])
        let writer = Task { await Self.write(first, acknowledged) }
        try await eventually { acknowledged.withLock { $0.count } >= 10 }
        // The slot of the stream of commits, which every write needs.
        let slot = try #require(Int(try cluster.servers[0].ask("CLUSTER", "KEYSLOT", "sd:{changes}")))
        let source = cluster.owner(ofSlot: slot)
        let target = (source + 1) % 3
        try cluster.beginMoving(slot: slot, from: source, to: target)
        while try cluster.moveKeys(ofSlot: slot, from: source, to: target, count: 10) {}
        try cluster.finishMoving(slot: slot, to: target)
        let count = acknowledged.withLock { $0.count }
        try await eventually { acknowledged.withLock { $0.count } >= count + 10 }
        writer.cancel()
        await writer.value
        let expected = acknowledged.withLock { $0 }
        try await eventually { expected.isSubset(of: second.state.stages.keys) }
        #expect(expected.isSubset(of: try TestNode(Self.settings(topology, "c")).state.stages.keys))
    }

    @Test
    func `a write that no replica has in time stands, is counted and told`() async throws {
        let primary = try RedisServer()
        let replica = try RedisServer(["replicaof 127.0.0.1 \(primary.port)"])
        let notices = Lock<[ClusterStoreNotice]>([])
        var observers = RedisStore.Observers()
        observers.onNotice = { notice in notices.withLock { $0.append(notice) } }
        let settings = Self.settings(.standalone([Self.endpoint(primary)]), "a")
        let node = try TestNode(settings, observers: observers)
        try await eventually { try replica.ask("INFO", "replication").contains("master_link_status:up") }
        replica.pause()
        var written = 0
        // The client learns of a new replica by its heartbeat.
        try await eventually {
            written += 1
            let stage = ClusterBench.stage("s\(written)")
            try await node.write { $0.put(stage) }
            return node.store.statistics.replicaMisses > 0
        }
        replica.resume()
        #expect(node.state.stages.count == written)
        try await eventually { notices.withLock { $0.contains { if case .notReplicated = $0 { true } else { false } } } }
    }

    @Test
    func `over a failover by Sentinel what a replica had stays, and both nodes agree on it`() async throws {
        let group = try RedisFailoverGroup(["appendonly yes", "appendfsync always"])
        try await eventually { try group.isReady() }
        let topology = RedisSettings.Topology.sentinel(
            primary: RedisFailoverGroup.name, sentinels: group.sentinels.map(Self.endpoint))
        let (first, second) = (
            try TestNode(Self.settings(topology, "a")), try TestNode(Self.settings(topology, "b"))
        )
        let acknowledged = Lock<Set<String>>([])
        let writer = Task { await Self.write(first, acknowledged) }
        try await eventually { acknowledged.withLock { $0.count } >= 20 }
        group.servers[0].kill()
        let count = acknowledged.withLock { $0.count }
        // A sentinel whose timer stands still for 2 s fails nothing over for 30 s.
        try await eventually(within: .seconds(600)) { acknowledged.withLock { $0.count } >= count + 10 }
        writer.cancel()
        await writer.value
        let expected = acknowledged.withLock { $0 }
        try await eventually {
            let (here, there) = (Set(first.state.stages.keys), Set(second.state.stages.keys))
            return here == there && expected.isSubset(of: there)
        }
    }
}
