import CShim
public import EventLoop
import Glibc

/// A message of a UNIX socket: bytes, and open descriptors that travel with them (SCM_RIGHTS).
public struct DescriptorMessage: Sendable {
    /// Descriptors of one message; more are sent in several.
    public static let maximumDescriptors = Int(SHIM_MAXIMUM_DESCRIPTORS)
    public static let maximumBytes = 65_536

    public var bytes: [UInt8]
    public var descriptors: [OwnedDescriptor]

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
