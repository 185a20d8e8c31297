import Wire

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
