import Wire

/// A server somewhere else: an address or a host name, and a port.
public struct ServerAddress: Equatable, Sendable {
    public let host: String
    public let port: UInt16
}

extension ServerAddress: ScalarValue {
    init?(text: String) {
        if let address = SocketAddress(text) {
            guard address.port > 0 else { return nil }
            self.init(host: "\(address.ip)", port: address.port)
            return
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let port = UInt16(parts[1]), port > 0,
            case .name(let host) = AdvertisedAddress(text: String(parts[0]))
        else { return nil }
        self.init(host: host, port: port)
    }

    public var text: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
    static var expectation: String { "a host and port such as redis.example:6379" }
}
