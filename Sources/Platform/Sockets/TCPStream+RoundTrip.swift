import Glibc
import Wire

extension TCPStream {
    /// The kernel's smoothed time to the peer and back (TCP_INFO); nil when the stream is closed or the kernel does not know.
    public var roundTrip: Duration? {
        guard let descriptor else { return nil }
        var information = tcp_info()
        var length = socklen_t(MemoryLayout<tcp_info>.size)
        let status = unsafe getsockopt(descriptor.number, CInt(IPPROTO_TCP), TCP_INFO, &information, &length)
        guard status == 0, information.tcpi_rtt > 0 else { return nil }
        return .microseconds(Int64(information.tcpi_rtt))
    }
}
