public import EventLoop
import Glibc

/// A descriptor with one owner: it is closed when the last reference goes. A value for other threads; using it is not.
public final class OwnedDescriptor: Sendable {
    public let number: CInt

    /// Takes ownership of an open descriptor.
    public init(_ number: CInt) { self.number = number }

    /// Another descriptor for the same open socket, to hand over or to answer from (dup(2)).
    public func duplicate() throws(SystemError) -> OwnedDescriptor {
        let copy = fcntl(number, F_DUPFD_CLOEXEC, 0)
        if copy < 0 { throw SystemError(call: "dup") }
        return OwnedDescriptor(copy)
    }

    deinit { close(number) }
}
