/// An address and a port: one end of a TCP connection or a UDP tuple.
@frozen
public struct SocketAddress: Hashable, Sendable {
    public var ip: IPAddress
    public var port: UInt16

    @inlinable
    public init(_ ip: IPAddress, port: UInt16) { (self.ip, self.port) = (ip, port) }

    /// Parses `192.0.2.1:80` or `[2001:db8::1]:80`; nil for anything else.
    public init?(_ text: some StringProtocol) {
        let text = Substring(text)
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else { return nil }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        guard let ip = IPAddress(host) else { return nil }
        self.init(ip, port: port)
    }
}

extension SocketAddress: CustomStringConvertible {
    public var description: String { ip.isV4 ? "\(ip):\(port)" : "[\(ip)]:\(port)" }
}
