public import OpenSSL
import Wire

/// Which servers to use, and how. Built once, then passed by value.
public struct RedisSettings: Sendable {
    /// How many servers there are, and how the right one is found.
    public enum Topology: Sendable {
        /// One primary, known by one address or several names of it.
        case standalone([RedisEndpoint])
        /// The primary that the sentinels call by that name, wherever it is.
        case sentinel(primary: String, sentinels: [RedisEndpoint], credential: RedisCredential? = nil)
        /// A cluster of which some nodes are known; the others are learned from them.
        case cluster(seeds: [RedisEndpoint])
    }

    /// Which servers.
    public var topology: Topology
    /// For data servers; sentinels have their own.
    public var credential: RedisCredential?
    /// Logical database; a cluster has only number 0.
    public var database = 0
    /// Speaks TLS with servers and sentinels, when set: asked for each connection, as certificates are renewed. Names of
    /// `RedisEndpoint`s are what certificates must show.
    public var tls: (@Sendable () -> TLSContext)?
    /// What `CLIENT LIST` shows for our connections: no blanks.
    public var clientName = "stagedoor"
    /// Times, lengths and counts.
    public var limits = RedisLimits()

    /// Everything else as it is by default.
    public init(_ topology: Topology) { self.topology = topology }
}

/// Where a server listens: an address, or a name that is looked up anew for each attempt.
public struct RedisEndpoint: Hashable, Sendable, CustomStringConvertible {
    /// A name or an address without brackets.
    public let host: String
    /// 1 to 65,535.
    public let port: UInt16

    /// Not checked.
    /// - Parameter port: where servers listen by default; sentinels do at 26379.
    public init(host: String, port: UInt16 = 6379) { (self.host, self.port) = (host, port) }

    /// As in a URL.
    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// Nil where the host is a name.
    var address: SocketAddress? { IPAddress(host).map { SocketAddress($0, port: port) } }
}

/// How long a server may take, and how much it may say.
public struct RedisLimits: Equatable, Sendable {
    /// From the first SYN until the server has greeted us: TCP, TLS, AUTH, INFO.
    public var connectTimeout = Duration.seconds(2)
    /// From sending a command until its answer: beyond it the connection counts as dead, and every reply on it is `.lost`.
    public var answerTimeout = Duration.seconds(3)
    /// Every connection asks its server that often whether it lives, and whether it is a primary still.
    public var heartbeat = Duration.seconds(1)
    /// The pause after the first failure to connect; it doubles up to the longest.
    public var shortestPause = Duration.milliseconds(50)
    /// The longest pause between two attempts.
    public var longestPause = Duration.seconds(2)
    /// Commands that may wait for their answers on one connection.
    public var maximumPipelinedCommands = 4_096
    /// One answer: its bytes, and its strings, numbers and arrays. hiredis bounds the depth, at seven arrays.
    public var maximumReplyBytes = 16 << 20
    /// See `maximumReplyBytes`.
    public var maximumReplyElements = 262_144
    /// What waits for the server to take it.
    public var maximumUnsentBytes = 16 << 20

    /// For servers in the same data centre.
    public init() {}
}
