import CShim
import EventLoop
import Glibc
import Wire

/// A TCP connection as a stream uses it. No call waits.
extension OwnedDescriptor {
    /// What one read has brought.
    enum Reception {
        case bytes(Int)
        /// There is nothing now.
        case nothing
        /// The peer's FIN.
        case finished
        /// The connection broke (errno).
        case broken(CInt)
    }

    /// What has become of one write.
    enum Transmission {
        /// So many bytes are with the kernel, perhaps none.
        case taken(Int)
        /// The connection broke (errno).
        case broken(CInt)
    }

    /// A socket that has begun to connect.
    convenience init(connectingTo address: SocketAddress) throws(SystemError) {
        let family = address.ip.isV4 ? AF_INET : AF_INET6
        let number = shim_socket(family, CInt(SOCK_STREAM.rawValue))
        if number < 0 { throw SystemError(call: "socket") }
        self.init(number)
        var plain = address.shim
        if unsafe shim_connect(number, family, &plain) < 0, errno != EINPROGRESS { throw SystemError(call: "connect \(address)") }
        shim_tune_stream(number, UInt32(TCPStream.userTimeout.milliseconds))
    }

    /// Why connecting failed (errno); nil when the connection stands.
    var connectFault: CInt? {
        let code = shim_option(number, SOL_SOCKET, SO_ERROR)
        return code == 0 ? nil : code
    }

    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Reception {
        let count = unsafe recv(number, buffer.baseAddress, buffer.count, 0)
        if count > 0 { return .bytes(count) }
        if count == 0 { return .finished }
        return errno == EAGAIN || errno == EINTR ? .nothing : .broken(errno)
    }

    func send(_ bytes: UnsafeRawBufferPointer) -> Transmission {
        let count = unsafe Glibc.send(number, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL))
        if count >= 0 { return .taken(count) }
        return errno == EAGAIN || errno == EINTR ? .taken(0) : .broken(errno)
    }

    /// Bytes that the kernel has taken and the peer's has not acknowledged.
    var unacknowledgedByteCount: Int { Int(shim_unacknowledged(number)) }

    /// Nothing more will be sent; what the peer sends still comes.
    func sayFIN() { _ = shutdown(number, CInt(SHUT_WR)) }

    /// The kernel's smoothed time to the peer and back (TCP_INFO); nil when it does not know.
    var roundTrip: Duration? {
        var information = tcp_info()
        var length = socklen_t(MemoryLayout<tcp_info>.size)
        let status = unsafe getsockopt(number, CInt(IPPROTO_TCP), TCP_INFO, &information, &length)
        guard status == 0, information.tcpi_rtt > 0 else { return nil }
        return .microseconds(Int64(information.tcpi_rtt))
    }
}
