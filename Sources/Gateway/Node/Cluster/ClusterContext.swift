import Admission
import Cluster
public import ClusterStore
import EventLoop
import Foundation
public import Redis
public import Settings
import Store
import WHIPIngest
import Wire

/// What a node of a cluster shares with the others, for all threads.
struct ClusterContext: Sendable {
    let store: RedisStore
    let leases: ClusterLeases
    let redis: RedisSettings
    /// Why the servers cannot be had; nil while they answer.
    let fault = Lock<String?>("not connected yet")

    var neighbours: Neighbours { Neighbours(leases.nodes, of: leases.settings.nodeID) }

    /// The stage routers that the heartbeats of other nodes call alive.
    var routersSeenByOthers: Set<String> { neighbours.routers }
}

/// The other nodes as WHIP's resources see them.
struct LivingNeighbours: NeighbourDirectory {
    let cluster: ClusterContext
    let gate: AdmissionGate

    func address(ofNode node: String) -> String? { cluster.neighbours.address(ofNode: node) }

    /// Nil where the encoder is to stay: here is room.
    func betterEndpoint(isSecure: Bool) -> String? {
        guard gate.isLeaving || !gate.takesPublishes else { return nil }
        return cluster.neighbours.roomiest(isSecure: isSecure)
    }
}

extension RedisSettings {
    /// - Parameter node: what `CLIENT LIST` shows.
    /// - Throws: when a file of certificates or keys cannot be used.
    public init(_ settings: ClusterSettings, node: String) throws {
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
