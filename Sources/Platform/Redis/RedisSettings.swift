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
    /// Where servers listen by default; sentinels do at 26379.
    public static let standardPort: UInt16 = 6379

    /// A name or an address without brackets.
    public let host: String
    /// 1 to 65,535.
    public let port: UInt16

    /// Not checked: configuration is parsed by `init(_:standardPort:)`.
    public init(host: String, port: UInt16 = standardPort) { (self.host, self.port) = (host, port) }

    /// Parses `name`, `name:port`, `192.0.2.1:port` or `[2001:db8::1]:port`; nil for anything else.
    public init?(_ text: String, standardPort: UInt16 = standardPort) {
        if let address = SocketAddress(text) {
            self.init(host: "\(address.ip)", port: address.port)
            return
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let host = parts.first, !host.isEmpty, host.utf8.allSatisfy(Self.isOfName) else {
            return nil
        }
        guard let port = parts.count == 1 ? standardPort : UInt16(parts[1]), port > 0 else { return nil }
        self.init(host: String(host), port: port)
    }

    /// As `init(_:standardPort:)` parses it.
    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// Nil where the host is a name.
    var address: SocketAddress? { IPAddress(host).map { SocketAddress($0, port: port) } }

    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"): true
        default: false
        }
    }
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
