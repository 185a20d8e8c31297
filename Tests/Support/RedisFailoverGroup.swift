import Foundation

/// A primary, a replica of it, and three sentinels that fail over when two agree.
public final class RedisFailoverGroup {
    public static let name = "gate"

    public let servers: [RedisServer]
    public let sentinels: [RedisServer]

    /// - Parameter downAfter: silence after which a server counts as down, in milliseconds.
    public init(downAfter: Int = 1_000, _ configuration: [String] = []) throws {
        let primary = try RedisServer(configuration)
        let replica = try RedisServer(configuration + ["replicaof 127.0.0.1 \(primary.port)"])
        servers = [primary, replica]
        // A sentinel that finds the replica at its first look need not wait ten seconds for the next.
        let end = ContinuousClock.now.advanced(by: .seconds(60))
        while try !replica.ask("INFO", "replication").contains("master_link_status:up"), ContinuousClock.now < end {
            usleep(20_000)
        }
        sentinels = try (0..<3).map { _ in
            try RedisServer(
                [
                    "sentinel monitor \(Self.name) 127.0.0.1 \(primary.port) 2",
                    "sentinel down-after-milliseconds \(Self.name) \(downAfter)",
                    "sentinel failover-timeout \(Self.name) 5000",
                ], isSentinel: true)
        }
    }

    /// Whether the sentinels know each other and the replica, and the replica has the data: a failover would succeed.
    public func isReady() throws -> Bool {
        guard try servers[1].ask("INFO", "replication").contains("master_link_status:up") else { return false }
        return try sentinels.allSatisfy {
            let primary = try $0.ask("SENTINEL", "MASTER", Self.name).split(whereSeparator: \.isNewline)
            guard let index = primary.firstIndex(of: "num-slaves"), primary[index + 1] == "1" else { return false }
            return try $0.ask("SENTINEL", "CKQUORUM", Self.name).hasPrefix("OK 3")
        }
    }

    /// The one of the two that the sentinel calls the primary.
    public func primary(accordingTo sentinel: RedisServer) throws -> RedisServer? {
        let answer = try sentinel.ask("SENTINEL", "GET-MASTER-ADDR-BY-NAME", Self.name)
        return servers.first { answer.hasSuffix("\($0.port)") }
    }
}
