public import Wire

/// Who sent a request and how, by the words of proxies that the operator trusts.
public struct ForwardedSource: Equatable, Sendable {
    public var source: SocketAddress
    public var isSecure: Bool

    /// Reads X-Forwarded-For from its right end: each trusted proxy wrote the address it saw, so the first address that is no trusted
    /// proxy is the client. What stands left of it, or is malformed, anybody may have invented.
    public init(peer: SocketAddress, isSecure: Bool, headers: HTTPHeaders, trusted: [IPNetwork]) {
        (self.source, self.isSecure) = (peer, isSecure)
        guard trusted.contains(where: { $0.contains(peer.ip) }) else { return }
        for text in headers.list(of: "X-Forwarded-For").reversed() {
            guard let address = Self.address(text) else { break }
            source = address
            if !trusted.contains(where: { $0.contains(address.ip) }) { break }
        }
        if let scheme = headers.list(of: "X-Forwarded-Proto").last { self.isSecure = HTTPHeaders.areEqual(scheme, "https") }
    }

    /// Proxies write the bare address, some with a port, some IPv6 in brackets.
    private static func address(_ text: String) -> SocketAddress? {
        if let ip = IPAddress(text) { return SocketAddress(ip, port: 0) }
        if let address = SocketAddress(text) { return address }
        guard text.hasPrefix("["), text.hasSuffix("]"), let ip = IPAddress(text.dropFirst().dropLast()) else { return nil }
        return SocketAddress(ip, port: 0)
    }
}
