import CShim
public import Wire

/// One received datagram, valid until the callback that brought it returns.
@safe
public struct Datagram {
    /// The bytes where the kernel put them, to be changed in place. At least 32 bytes more may be touched behind their end.
    public let payload: UnsafeMutableRawBufferPointer
    /// Who sent it; IPv4-mapped addresses are IPv4 here.
    public let source: SocketAddress
    /// The address of ours it was sent to: answer from it. Nil when the kernel did not say.
    public let local: IPAddress?
}

/// The datagrams of one receive call, in order of arrival.
@safe
public struct DatagramBatch: RandomAccessCollection {
    private let datagrams: UnsafeMutablePointer<shim_datagram>
    /// How many there are.
    public let endIndex: Int
    /// Always 0.
    public var startIndex: Int { 0 }

    init(_ datagrams: UnsafeMutablePointer<shim_datagram>, count: Int) {
        unsafe self.datagrams = datagrams
        endIndex = count
    }

    /// The datagram at that index.
    public subscript(index: Int) -> Datagram {
        precondition(indices.contains(index))
        let datagram = unsafe datagrams[index]
        let payload = unsafe UnsafeMutableRawBufferPointer(start: datagram.bytes, count: Int(datagram.count))
        // A UDP socket's datagrams always come from IPv4 or IPv6.
        let source = unsafe SocketAddress(datagram.source) ?? SocketAddress(.anyV4, port: 0)
        return unsafe Datagram(payload: payload, source: source, local: IPAddress(datagram.local))
    }
}

/// The receive slots of one loop: 64 datagrams of 2,048 bytes, shared by its sockets because only one is read at a time.
@safe
final class ReceiveBatch {
    let handle: OpaquePointer

    init() {
        guard let handle = unsafe shim_batch_new() else { preconditionFailure("a loop without 200 kB of memory cannot start") }
        unsafe self.handle = handle
    }

    deinit { unsafe shim_batch_free(handle) }
}
