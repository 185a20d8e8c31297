import CShim
public import EventLoop
import Glibc
import Wire

/// A descriptor with one owner: it is closed when the last reference goes. A value for other threads; using it is not.
public final class OwnedDescriptor: Sendable {
    /// Open as long as this object lives.
    public let number: CInt

    /// Takes ownership of an open descriptor.
    public init(_ number: CInt) { self.number = number }

    /// Another descriptor for the same open socket, to hand over or to answer from (dup(2)).
    public func duplicate() throws(SystemError) -> OwnedDescriptor {
        let copy = fcntl(number, F_DUPFD_CLOEXEC, 0)
        if copy < 0 { throw SystemError(call: "dup") }
        return OwnedDescriptor(copy)
    }

    /// Has the kernel refuse connections to a TCP listener, whoever has duplicates of its descriptor, until one of those resumes
    /// (`TCPListener`). Whoever waits to be accepted is cut off; others may listen at its address meanwhile.
    public func refuseConnections() { _ = shutdown(number, CInt(SHUT_RDWR)) }

    deinit { close(number) }

    /// Ours, as the kernel says; nil for an unknown family.
    var localAddress: SocketAddress? { SocketAddress(shim_local_address(number)) }
}
