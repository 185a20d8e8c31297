public import OpenSSL
import Wire

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

/// Where a server listens: an address, or a name that is looked up anew for each attempt.
public struct RedisEndpoint: Hashable, Sendable, CustomStringConvertible {
    public static let standardPort: UInt16 = 6379

    public let host: String
    public let port: UInt16

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
    /// From sending a command until its answer: beyond it the connection counts as dead, and all that wait on it are told.
    public var answerTimeout = Duration.seconds(3)
    /// Every connection asks its server that often whether it lives, and whether it is a primary still.
    public var heartbeat = Duration.seconds(1)
    /// The pause after the first failure to connect; it doubles up to the longest.
    public var shortestPause = Duration.milliseconds(50)
    public var longestPause = Duration.seconds(2)
    /// Commands that may wait for their answers on one connection.
    public var maximumPipelinedCommands = 4_096
    /// One answer: its bytes, and its strings, numbers and arrays. hiredis bounds the depth, at seven arrays.
    public var maximumReplyBytes = 16 << 20
    public var maximumReplyElements = 262_144
    /// What waits for the server to take it.
    public var maximumUnsentBytes = 16 << 20

    public init() {}
}
