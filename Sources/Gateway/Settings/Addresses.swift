public import Wire

/// Where a listener listens, or that it does not.
public struct ListenAddress: Equatable, Sendable {
    /// Nil when the listener is off. Port 0 takes any free port.
    public var address: SocketAddress?

    public init(_ address: SocketAddress?) { self.address = address }
    public static let off = ListenAddress(nil)

    /// Whether only this machine can reach it.
    public var isLoopback: Bool { address?.ip.isLoopback ?? true }
}

/// One entry of `advertise.addresses`: where clients reach this machine.
public enum AdvertisedAddress: Equatable, Sendable {
    case address(IPAddress)
    /// A host name, looked up again and again.
    case name(String)
    /// `auto`: what the interfaces have.
    case interfaces
}

/// A server somewhere else: an address or a host name, and a port.
public struct ServerAddress: Equatable, Sendable {
    /// An IPv6 address stands without brackets.
    public let host: String
    public let port: UInt16

    public init(host: String, port: UInt16) { (self.host, self.port) = (host, port) }
}

/// UDP ports from the first to the last.
public struct PortRange: Equatable, Sendable {
    public var first: UInt16
    public var last: UInt16

    public init(_ first: UInt16, _ last: UInt16) { (self.first, self.last) = (first, last) }
    public var ports: ClosedRange<UInt16> { first...last }
}
