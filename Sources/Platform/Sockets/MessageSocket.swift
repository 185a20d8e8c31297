import CShim
public import EventLoop
import Glibc
import Wire

/// UNIX sockets with a name in the file system that keep message boundaries (SOCK_SEQPACKET), for `DescriptorMessage`s
/// between processes of one machine. Not waited for.
public enum MessageSocket {
    /// Connections that wait to be accepted.
    static let backlog: CInt = 4

    /// Listens at `path`, which it takes from whoever left it there; mode 0600.
    public static func listen(at path: String) throws(SystemError) -> OwnedDescriptor {
        let descriptor = try make()
        unsafe unlink(path)
        try unsafe call("bind \(path)", path) { unsafe bind(descriptor.number, $0, $1) }
        if unsafe chmod(path, 0o600) < 0 { throw SystemError(call: "chmod \(path)") }
        if Glibc.listen(descriptor.number, backlog) < 0 { throw SystemError(call: "listen \(path)") }
        return descriptor
    }

    /// - Throws: `ENOENT` or `ECONNREFUSED` when nobody listens.
    public static func connect(to path: String) throws(SystemError) -> OwnedDescriptor {
        let descriptor = try make()
        try unsafe call("connect \(path)", path) { unsafe Glibc.connect(descriptor.number, $0, $1) }
        return descriptor
    }

    /// Takes one connection; nil when none waits.
    public static func accept(from listener: OwnedDescriptor) -> OwnedDescriptor? {
        let number = Glibc.accept(listener.number, nil, nil)
        guard number >= 0 else { return nil }
        let descriptor = OwnedDescriptor(number)
        guard fcntl(number, F_SETFD, FD_CLOEXEC) == 0, fcntl(number, F_SETFL, O_NONBLOCK) == 0 else { return nil }
        return descriptor
    }

    /// Waits until there is something to read, whatever signals come meanwhile; false when `limit` passed first.
    public static func waitForMessage(on socket: OwnedDescriptor, within limit: Duration) -> Bool {
        let end = EventLoop.monotonicNow() + limit
        var entry = pollfd(fd: socket.number, events: Int16(POLLIN), revents: 0)
        while true {
            let rest = max(0, (end - EventLoop.monotonicNow()).milliseconds)
            let count = unsafe poll(&entry, 1, CInt(clamping: rest))
            if count >= 0 || errno != EINTR { return count > 0 }
        }
    }

    /// Ends the connection for both sides at once, whoever has duplicates of the descriptor; what was sent before is still read.
    public static func shutDown(_ socket: OwnedDescriptor) { _ = shutdown(socket.number, CInt(SHUT_RDWR)) }

    private static func make() throws(SystemError) -> OwnedDescriptor {
        let kind = CInt(SOCK_SEQPACKET.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        let number = socket(AF_UNIX, kind, 0)
        if number < 0 { throw SystemError(call: "socket") }
        return OwnedDescriptor(number)
    }

    private static func call(
        _ name: String, _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt
    ) throws(SystemError) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let isLong = unsafe withUnsafeMutableBytes(of: &address.sun_path) { space in
            guard bytes.count < space.count else { return true }
            unsafe space.copyBytes(from: bytes)
            return false
        }
        if isLong { throw SystemError(call: name, code: ENAMETOOLONG) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let status = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, length) }
        }
        if status < 0 { throw SystemError(call: name) }
    }
}

/// A message of a UNIX socket: bytes, and open descriptors that travel with them (SCM_RIGHTS).
public struct DescriptorMessage: Sendable {
    /// Descriptors of one message; more are sent in several.
    public static let maximumDescriptors = Int(SHIM_MAXIMUM_DESCRIPTORS)
    /// Of one message; longer ones come as `EMSGSIZE`.
    public static let maximumBytes = 65_536

    /// At least one.
    public var bytes: [UInt8]
    /// At most `maximumDescriptors`.
    public var descriptors: [OwnedDescriptor]

    /// A message to send.
    public init(bytes: [UInt8], descriptors: [OwnedDescriptor] = []) {
        (self.bytes, self.descriptors) = (bytes, descriptors)
    }

    /// Sends the message whole. The receiver gets duplicates; ours stay open.
    /// - Throws: `EAGAIN` when a non-blocking socket has no room, `EPIPE` when nobody is there any more.
    public func send(over socket: OwnedDescriptor) throws(SystemError) {
        precondition(descriptors.count <= Self.maximumDescriptors, "descriptors are sent in groups of at most 64")
        precondition(!bytes.isEmpty, "descriptors travel with at least one byte")
        let numbers = descriptors.map(\.number)
        let sent = unsafe shim_send_descriptors(socket.number, bytes, bytes.count, numbers, CInt(numbers.count))
        if sent < 0 { throw SystemError(call: "sendmsg") }
    }

    /// Receives one message.
    /// - Returns: nil at the end of the connection.
    /// - Throws: `EAGAIN` when a non-blocking socket has nothing, `EMSGSIZE` when something had to be cut off.
    public static func receive(over socket: OwnedDescriptor) throws(SystemError) -> DescriptorMessage? {
        var numbers = [CInt](repeating: -1, count: maximumDescriptors)
        var numberCount: CInt = 0
        var bytes = [UInt8](repeating: 0, count: maximumBytes)
        let count = unsafe shim_receive_descriptors(socket.number, &bytes, bytes.count, &numbers, &numberCount)
        if count < 0 { throw SystemError(call: "recvmsg") }
        let descriptors = numbers.prefix(Int(numberCount)).map { OwnedDescriptor($0) }
        if count == 0, descriptors.isEmpty { return nil }
        return DescriptorMessage(bytes: Array(bytes.prefix(count)), descriptors: descriptors)
    }

    /// Two connected ends that keep message boundaries and are not waited for (SOCK_SEQPACKET).
    public static func makePair() throws(SystemError) -> (OwnedDescriptor, OwnedDescriptor) {
        var ends: [CInt] = [-1, -1]
        let kind = CInt(SOCK_SEQPACKET.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        if unsafe socketpair(AF_UNIX, kind, 0, &ends) < 0 { throw SystemError(call: "socketpair") }
        return (OwnedDescriptor(ends[0]), OwnedDescriptor(ends[1]))
    }

    /// The user at the other end; nil when the kernel does not say (SO_PEERCRED).
    public static func peerUser(of socket: OwnedDescriptor) -> UInt32? {
        let user = shim_peer_user(socket.number)
        return user < 0 ? nil : UInt32(user)
    }
}
