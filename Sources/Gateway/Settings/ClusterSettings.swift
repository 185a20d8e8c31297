public import Wire

/// This node among others that share a Redis or Valkey, and so are one platform.
public struct ClusterSettings: Equatable, Sendable {
    /// What the addresses of `redis` are.
    public enum Topology: String, CaseIterable, Sendable {
        case standalone
        case sentinel
        case cluster
    }

    /// What becomes of new publishes while the servers cannot be reached.
    public enum Degraded: String, CaseIterable, Sendable {
        case refuse
        case admit
    }

    /// Empty: the node is a platform by itself.
    public var redis: [ServerAddress] = []
    public var topology = Topology.standalone
    public var primary = ""
    public var user = ""
    public var password = Secret("")
    public var redisTLS = false
    public var redisCertificateAuthority = ""
    public var redisCertificate = ""
    public var redisPrivateKey = ""
    public var keyPrefix = "sd:"
    public var platformKeyFile = ""
    public var node = ""
    public var url = ""
    public var publicURL = ""
    public var certificateAuthority = ""
    public var degraded = Degraded.refuse

    // Without a key in the file: the times of leases and nodes (docs/design.md 7.4).

    /// How long a lease holds that nobody renews, and how often it is renewed.
    public var leaseLifetime = Duration.seconds(10)
    public var renewalInterval = Duration.seconds(3)
    /// How long a node counts as alive that says nothing, and how often it says so.
    public var heartbeatLifetime = Duration.seconds(10)
    public var heartbeatInterval = Duration.seconds(1)
    /// How long the owner of a live participant may take to answer.
    public var ownerPatience = Duration.milliseconds(500)
    /// How long a claim waits for a lease to end before it is refused: longer than a lease holds.
    public var claimPatience = Duration.seconds(11)
    /// Silence of the server after which nothing is as we left it, until everybody has renewed.
    public var silence = Duration.seconds(3)
    /// After a silence, how long what others held is still theirs.
    public var grace = Duration.seconds(15)
    /// How long the database may take to answer at start.
    public var startTimeout = Duration.seconds(10)

    public init() {}

    public var isConfigured: Bool { !redis.isEmpty }
}
