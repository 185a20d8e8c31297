import Admission
import Cluster
public import ClusterStore
import EventLoop
import Foundation
public import GatewayConfiguration
public import Redis
import Store
import WHIPIngest
import Wire

/// What a node of a cluster shares with the others, for all threads.
struct ClusterPlatform: Sendable {
    let store: RedisStore
    let leases: ClusterLeases
    let redis: RedisSettings
    /// Why the servers cannot be had; nil while they answer.
    let fault = Lock<String?>("not connected yet")

    /// The stage routers that the heartbeats of other nodes call alive.
    var routersSeenByOthers: Set<String> {
        leases.nodes.filter { $0.id != leases.settings.nodeID }.reduce(into: []) { $0.formUnion($1.routers) }
    }
}

/// The other nodes as WHIP's resources see them.
struct LivingNeighbours: NeighbourDirectory {
    let leases: ClusterLeases
    let gate: AdmissionGate

    func address(ofNode node: String) -> String? {
        guard node != leases.settings.nodeID else { return nil }
        return leases.nodes.first { $0.id == node && !$0.nodeURL.isEmpty }?.nodeURL
    }

    /// Of those that stay and are not full the one that has least to do.
    func betterEndpoint(isSecure: Bool) -> String? {
        guard gate.isLeaving || !gate.takesPublishes else { return nil }
        let nodes = leases.nodes.filter { node in
            node.id != leases.settings.nodeID && !node.isDraining && node.load < 1 && !node.publicURL.isEmpty
                && (!isSecure || node.publicURL.hasPrefix("https://"))
        }
        return nodes.min { $0.load < $1.load }?.publicURL
    }
}

extension RedisSettings {
    /// - Parameter node: what `CLIENT LIST` shows.
    /// - Throws: when a file of certificates or keys cannot be used.
    public init(_ settings: GatewayConfiguration.ClusterSettings, node: String) throws {
        let endpoints = settings.redis.map { RedisEndpoint(host: $0.host, port: $0.port) }
        let user = settings.user.isEmpty ? nil : settings.user
        let credential = settings.password.isEmpty ? nil : RedisCredential(user: user, password: settings.password)
        switch settings.topology {
        case .standalone: self.init(.standalone(endpoints))
        case .sentinel: self.init(.sentinel(primary: settings.primary, sentinels: endpoints))
        case .cluster: self.init(.cluster(seeds: endpoints))
        }
        (self.credential, clientName) = (credential, "stagedoor-\(node)")
        if settings.redisTLS { tls = try RedisCertificates(settings).makeContext() }
    }
}

extension PlatformKey {
    /// Reads the key that all nodes have.
    public init(file: String) throws {
        guard let bytes = FileManager.default.contents(atPath: file) else {
            throw StartupError.cluster("cluster.platformKeyFile: \(file) cannot be read")
        }
        guard let key = PlatformKey(Secret([UInt8](bytes))) else {
            throw StartupError.cluster(
                "cluster.platformKeyFile: \(file) has \(bytes.count) bytes: `openssl rand -out \(file) \(PlatformKey.byteCount)` makes one"
            )
        }
        self = key
    }
}

extension RedisStoreSettings {
    public init(_ configuration: StagedoorConfiguration, redis: RedisSettings, node: String, key: PlatformKey) {
        self.init(redis: redis, platformKey: key, node: node)
        (keyPrefix, retention) = (configuration.cluster.keyPrefix, configuration.events.retention)
    }
}

extension Cluster.ClusterSettings {
    init(_ configuration: StagedoorConfiguration, node: String) {
        self.init(nodeID: node)
        keyPrefix = configuration.cluster.keyPrefix
        publishersPerStage = configuration.quotas.publishersPerStage
        maximumPublishers = configuration.quotas.publishers
        admitsTokensWhileAway = configuration.cluster.degraded == .admit
    }
}
