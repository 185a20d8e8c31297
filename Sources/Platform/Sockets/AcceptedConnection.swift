public import OpenSSL
public import Wire

/// A TCP connection that nobody reads yet. A value, so that a worker with less to do may be given it.
public struct AcceptedConnection: Sendable {
    public let descriptor: OwnedDescriptor
    public let remoteAddress: SocketAddress
    public let localAddress: SocketAddress
    /// What its listener speaks; nil for plain TCP.
    public let tls: TLSContext?
    /// What it counts for where workers have even shares; whoever reads the connection keeps it as long as that is open.
    var place: ConnectionPlace?

    public init(
        descriptor: OwnedDescriptor, remoteAddress: SocketAddress, localAddress: SocketAddress, tls: TLSContext? = nil
    ) {
        (self.descriptor, self.remoteAddress, self.localAddress, self.tls) = (descriptor, remoteAddress, localAddress, tls)
    }
}
