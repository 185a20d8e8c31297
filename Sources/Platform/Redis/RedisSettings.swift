public import OpenSSL

/// Which servers to use, and how. Built once, then passed by value.
public struct RedisSettings: Sendable {
    public enum Topology: Sendable {
        /// One primary, known by one address or several names of it.
        case standalone([RedisEndpoint])
        /// The primary that the sentinels call by that name, wherever it is.
        case sentinel(primary: String, sentinels: [RedisEndpoint], credential: RedisCredential? = nil)
        /// A cluster of which some nodes are known; the others are learned from them.
        case cluster(seeds: [RedisEndpoint])
    }

    public var topology: Topology
    public var credential: RedisCredential?
    /// Logical database; a cluster has only number 0.
    public var database = 0
    /// Speaks TLS with servers and sentinels, when set. Names of `RedisEndpoint`s are what certificates must show.
    public var tls: TLSContext?
    /// What `CLIENT LIST` shows for our connections: no blanks.
    public var clientName = "stagedoor"
    public var limits = RedisLimits()

    public init(_ topology: Topology) { self.topology = topology }
}
