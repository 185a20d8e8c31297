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
    /// What they are: one primary, sentinels that know it, or nodes of a Redis Cluster.
    public var topology = Topology.standalone
    /// The name by which sentinels know the primary.
    public var primary = ""
    /// ACL user; empty: the default one.
    public var user = ""
    /// Its password; empty: none is asked for.
    public var password = Secret("")
    /// Speak TLS with the servers and sentinels; their certificates must show the names in cluster.redis.
    public var redisTLS = false
    /// PEM file that the servers' certificates must descend from; empty: the system's.
    public var redisCertificateAuthority = ""
    /// PEM file of the certificate that we show the servers (tls-auth-clients); empty: none.
    public var redisCertificate = ""
    /// PEM file of its key.
    public var redisPrivateKey = ""
    /// Begins every key; platforms that share servers differ in it.
    public var keyPrefix = "sd:"
    /// File of 32 bytes, the same on every node, that encrypts stream keys in the shared store.
    public var platformKeyFile = ""
    /// Name of this node, letters and digits, like that of no other; empty: made at the first start.
    public var node = ""
    /// URL under which the other nodes reach our public HTTP: they pass WHIP's PATCH and DELETE on; empty: by http.listen.
    public var url = ""
    /// WHIP endpoint of this node alone, to which draining or full nodes send encoders (307); empty: none are sent.
    public var publicURL = ""
    /// PEM file that the other nodes' certificates must descend from, where their URLs are https; empty: the system's.
    public var certificateAuthority = ""
    /// New publishes while the servers are away: refuse them, or admit tokens whose key we know.
    public var degraded = Degraded.refuse

    // Without a key in the file: the times of leases and nodes (docs/design.md 7.4).

    /// How long a lease holds that nobody renews, and how often it is renewed.
    public var leaseLifetime = Duration.seconds(10)
    public var renewalInterval = Duration.seconds(3)
    /// How long a node counts as alive that says nothing, and how often it says so.
    public var heartbeatLifetime = Duration.seconds(10)
    public var heartbeatInterval = Duration.seconds(1)
    /// A node of which the servers hear nothing for so long is dead to the encoders that it had: longer than an interval and what
    /// it or the servers may stand still.
    public var deathSilence = Duration.milliseconds(4_500)
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
