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

    public init() {}

    public var isConfigured: Bool { !redis.isEmpty }
}

extension ClusterSettings.Topology: ChoiceValue {}
extension ClusterSettings.Degraded: ChoiceValue {}
