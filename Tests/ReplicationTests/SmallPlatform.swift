import Cluster
import ClusterStore
import EventLoop
import Redis
import Settings
import Store
import TestSupport
import Testing
import Wire

/// Nodes of one platform in small, on one loop and a Redis of their own.
final class SmallPlatform {
    private(set) var nodes: [SmallGateway] = []
    private let server: RedisServer
    private var members: [ClusterMember] = []

    init(_ count: Int) throws {
        server = try RedisServer()
        let loop = try EventLoop()
        for number in 0..<count { nodes.append(try makeNode("n\(number)", loop)) }
        for node in nodes { node.others = nodes.filter { $0 !== node } }
        nodes[0].until("the nodes have met") { members.allSatisfy { $0.isListening && $0.state.isConnected } }
    }

    func close() {
        for node in nodes { node.others = [] }
        for member in members { member.close() }
    }

    private func makeNode(_ name: String, _ loop: EventLoop) throws -> SmallGateway {
        var redis = RedisSettings(.standalone([RedisEndpoint(host: "127.0.0.1", port: server.port)]))
        // A busy machine must not look like a server that is away.
        (redis.limits.connectTimeout, redis.limits.answerTimeout) = (.seconds(60), .seconds(60))
        let settings = redis
        return try SmallGateway(loop: loop) { directory, observers in
            guard let key = PlatformKey(Secret([UInt8](repeating: 7, count: 32))) else { throw StoreError.closed }
            var reports = RedisStore.Observers()
            reports.onChange = observers.tell
            let store = try RedisStore(
                RedisStoreSettings(redis: settings, platformKey: key, node: name), directory: directory, observers: reports)
            var node = NodeSettings(nodeID: name)
            // Else nobody is surely gone, and no window ends, in the first fifteen seconds.
            node.cluster.grace = .zero
            let leases = ClusterLeases(
                settings: node,
                environment: ClusterLeases.Environment(store: store, names: ResourceName()))
            observers.add { _ in leases.stateChanged() }
            let member = try ClusterMember(loop: loop, leases: leases, redis: settings)
            member.start()
            members.append(member)
            return (store, leases)
        }
    }
}
