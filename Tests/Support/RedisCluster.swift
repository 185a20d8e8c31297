import Foundation

/// Three primaries that share the slots evenly, and as many replicas of the first as are wanted.
public final class RedisCluster {
    public let servers: [RedisServer]
    public var primaries: ArraySlice<RedisServer> { servers.prefix(3) }
    private let ids: [String]

    /// Starts the nodes and joins them; `isReady` says when they have agreed.
    /// - Parameter nodeTimeout: silence after which a node counts as failing, in milliseconds.
    public init(replicas: Int = 0, nodeTimeout: Int = 2_000, _ configuration: [String] = []) throws {
        let lines = ["cluster-enabled yes", "cluster-node-timeout \(nodeTimeout)", "cluster-replica-validity-factor 0"]
        let servers = try (0..<(3 + replicas)).map { _ in try RedisServer(lines + configuration) }
        self.servers = servers
        ids = try servers.map { try $0.ask("CLUSTER", "MYID") }
        for (index, slots) in [(0, 5_460), (5_461, 10_922), (10_923, 16_383)].enumerated() {
            try servers[index].ask("CLUSTER", "SET-CONFIG-EPOCH", "\(index + 1)")
            try servers[index].ask("CLUSTER", "ADDSLOTSRANGE", "\(slots.0)", "\(slots.1)")
        }
        for other in servers.dropFirst() { try servers[0].ask("CLUSTER", "MEET", "127.0.0.1", "\(other.port)") }
    }

    /// Whether all nodes know each other, all slots are served and the replicas have their data.
    public func isReady() throws -> Bool {
        for server in servers {
            let state = try server.ask("CLUSTER", "INFO")
            guard state.contains("cluster_state:ok"), state.contains("cluster_known_nodes:\(servers.count)") else { return false }
        }
        return try servers.dropFirst(3).allSatisfy { replica in
            try replica.ask("CLUSTER", "REPLICATE", ids[0])
            return try replica.ask("INFO", "replication").contains("master_link_status:up")
        }
    }

    /// Slots 0 to 5460, 5461 to 10922 and 10923 to 16383 as they were given out.
    public func owner(ofSlot slot: Int) -> Int { slot <= 5_460 ? 0 : slot <= 10_922 ? 1 : 2 }

    /// From here on keys of the slot are served by both: those that exist by the old owner, the others by the new one.
    public func beginMoving(slot: Int, from source: Int, to target: Int) throws {
        try servers[target].ask("CLUSTER", "SETSLOT", "\(slot)", "IMPORTING", ids[source])
        try servers[source].ask("CLUSTER", "SETSLOT", "\(slot)", "MIGRATING", ids[target])
    }

    /// Moves some of the slot's keys; false when there was none left.
    public func moveKeys(ofSlot slot: Int, from source: Int, to target: Int, count: Int) throws -> Bool {
        let keys = try servers[source].ask("CLUSTER", "GETKEYSINSLOT", "\(slot)", "\(count)").split(whereSeparator: \.isNewline)
        guard !keys.isEmpty else { return false }
        let words = ["MIGRATE", "127.0.0.1", "\(servers[target].port)", "", "0", "5000", "KEYS"] + keys.map(String.init)
        try servers[source].ask(words)
        return true
    }

    public func finishMoving(slot: Int, to target: Int) throws {
        for index in [target] + [0, 1, 2].filter({ $0 != target }) {
            try servers[index].ask("CLUSTER", "SETSLOT", "\(slot)", "NODE", ids[target])
        }
    }
}
