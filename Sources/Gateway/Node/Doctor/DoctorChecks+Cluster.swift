import ClusterStore
import EventLoop
import Redis
public import Settings
import Wire

/// What a node of a cluster needs of others: a key, servers that answer, and a clock like theirs.
extension DoctorChecks {
    static func cluster(_ configuration: StagedoorConfiguration) -> [Finding] {
        guard configuration.cluster.isConfigured else { return [] }
        return [platformKey(configuration.cluster)] + servers(configuration.cluster)
    }

    /// Adds to the lists of the cluster's records what they lack.
    public static func repairIndexes(_ configuration: StagedoorConfiguration) -> Finding {
        guard configuration.cluster.isConfigured else { return .failure("--repair-indexes: no cluster.redis is configured") }
        do {
            let count = try IndexRepair(RedisStoreSettings(configuration, node: "doctor")).run()
            return .fine("cluster.redis: the indexes lacked \(count) entries, which they have now")
        } catch { return .failure("--repair-indexes: \(error)") }
    }

    private static func platformKey(_ settings: ClusterSettings) -> Finding {
        do {
            _ = try PlatformKey(file: settings.platformKeyFile)
            return .fine("cluster.platformKeyFile: \(settings.platformKeyFile)")
        } catch { return .failure("\(error)") }
    }

    private static func servers(_ settings: ClusterSettings) -> [Finding] {
        let redis: RedisSettings
        do { redis = try RedisSettings(settings, node: "doctor") } catch { return [.failure("\(error)")] }
        guard let loop = try? EventLoop(), let client = try? RedisClient(loop: loop, settings: redis)
        else { return [.failure("cluster.redis: no descriptors to ask with")] }
        client.start()
        defer { client.close() }
        guard loop.run(until: { client.state.isConnected }, within: patience), case .connected(let servers) = client.state else {
            if case .away(_, let fault) = client.state { return [.failure("cluster.redis: \(fault)")] }
            return [.failure("cluster.redis: no answer")]
        }
        let names = servers.map { "\($0.address)" }.joined(separator: ", ")
        return [.fine("cluster.redis: \(names)"), clock(client, loop)]
    }

    /// Leases go by the server's clock and tokens by ours: they should not be far apart.
    private static func clock(_ client: RedisClient, _ loop: EventLoop) -> Finding {
        var answer: RedisReply?
        client.send("TIME") { answer = $0 }
        guard loop.run(until: { answer != nil }, within: patience), case .success(let value)? = answer,
            let seconds = value.elements?.first?.text.flatMap(Int64.init)
        else { return .warning("cluster.redis: TIME is not answered") }
        let skew = abs(seconds - EventLoop.wallNow().secondsSince1970)
        return skew > maximumSkew
            ? .warning("cluster.redis: its clock is \(skew) s away from ours: tokens have 60 s of leeway between nodes")
            : .fine("cluster.redis: its clock is ours, to \(skew) s")
    }

    private static let patience = Duration.seconds(5)
    private static let maximumSkew: Int64 = 2
}
