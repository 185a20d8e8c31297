import CShim
public import EventLoop
import Glibc
public import Wire

/// A socket that has its address but is not read yet. Made on any thread, then given to the loop that will read it.
///
/// A group of them shares one port by SO_REUSEPORT. All are bound before any is read and the set never changes after that:
/// then the kernel keeps each peer on one of them.
public struct BoundSocket: Sendable {
    /// What the socket carries.
    public enum Transport: Sendable { case tcp, udp }

    /// Closed with the last value that holds it.
    public let descriptor: OwnedDescriptor
    /// As it was bound.
    public let transport: Transport
    /// With the port that the kernel chose where 0 was asked for.
    public let localAddress: SocketAddress

    /// The kernel's room for what arrives, in bytes as it counts them: twice what was asked for, where it granted that.
    public var receiveBufferBytes: Int { Int(shim_option(descriptor.number, SOL_SOCKET, SO_RCVBUF)) }

    /// Adopts a descriptor that is bound already (socket activation, handover).
    public init(adopting descriptor: OwnedDescriptor, _ transport: Transport) throws(SystemError) {
        guard let address = descriptor.localAddress else { throw SystemError(call: "getsockname") }
        (self.descriptor, self.transport, localAddress) = (descriptor, transport, address)
    }

    /// Binds one socket that shares its port with nobody.
    public init(_ transport: Transport, _ address: SocketAddress) throws(SystemError) {
        self = try Self.bind(transport, address, isShared: false)
    }

    /// Binds `count` sockets to one port.
    ///
    /// `[::]` takes IPv4 too, and becomes `0.0.0.0` on a kernel without IPv6 (see `localAddress`).
    /// - Throws: `EADDRINUSE` also when the port belongs to another group: a second process that joined it would take half
    ///   of the first one's peers at once.
    public static func group(_ transport: Transport, _ address: SocketAddress, count: Int) throws(SystemError) -> [BoundSocket] {
        precondition(count > 0, "a group has members")
        // Bound alone first, which fails when anybody has the port; a port that the kernel chose holds for the whole group.
        let probe = try bind(transport, address, isShared: false)
        guard count > 1 else { return [probe] }
        let free = release(consume probe)
        var group: [BoundSocket] = []
        for _ in 0..<count { group.append(try bind(transport, free, isShared: true)) }
        return group
    }

    /// Closes a socket before its address is used again.
    private static func release(_ socket: consuming BoundSocket) -> SocketAddress { socket.localAddress }

    private static func bind(_ transport: Transport, _ address: SocketAddress, isShared: Bool) throws(SystemError) -> BoundSocket
    {
        do {
            return try bind(transport, address, family: address.ip.isV4 ? AF_INET : AF_INET6, isShared: isShared)
        } catch  where address.ip == .anyV6 && [EAFNOSUPPORT, EADDRNOTAVAIL].contains(error.code) {
            return try bind(transport, SocketAddress(.anyV4, port: address.port), family: AF_INET, isShared: isShared)
        }
    }

    private static func bind(
        _ transport: Transport, _ address: SocketAddress, family: CInt, isShared: Bool
    ) throws(SystemError) -> BoundSocket {
        let kind = transport == .udp ? SOCK_DGRAM : SOCK_STREAM
        let number = shim_socket(family, CInt(kind.rawValue))
        if number < 0 { throw SystemError(call: "socket") }
        let descriptor = OwnedDescriptor(number)
        if family == AF_INET6 { shim_set_option(number, CInt(IPPROTO_IPV6), IPV6_V6ONLY, address.ip == .anyV6 ? 0 : 1) }
        // Lets a restart listen while old connections are in TIME_WAIT; a port that somebody listens on stays refused.
        if transport == .tcp { shim_set_option(number, SOL_SOCKET, SO_REUSEADDR, 1) }
        if isShared, shim_set_option(number, SOL_SOCKET, SO_REUSEPORT, 1) < 0 { throw SystemError(call: "SO_REUSEPORT") }
        var plain = address.shim
        if unsafe shim_bind(number, family, &plain) < 0 { throw SystemError(call: "bind \(address)") }
        return try BoundSocket(adopting: descriptor, transport)
    }
}
