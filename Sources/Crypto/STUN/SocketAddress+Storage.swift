import Glibc
import Wire

extension sockaddr_storage {
    /// The C form of an address, as XOR-MAPPED-ADDRESS is written from it.
    static func make(_ address: SocketAddress) -> (sockaddr_storage, socklen_t) {
        var storage = sockaddr_storage()
        switch address.ip {
        case .v4(let ip):
            let v4 = sockaddr_in(
                sin_family: sa_family_t(AF_INET), sin_port: address.port.bigEndian, sin_addr: in_addr(s_addr: ip.bigEndian),
                sin_zero: (0, 0, 0, 0, 0, 0, 0, 0))
            unsafe withUnsafeMutableBytes(of: &storage) { unsafe $0.storeBytes(of: v4, as: sockaddr_in.self) }
            return (storage, socklen_t(MemoryLayout<sockaddr_in>.size))
        case .v6(let high, let low, let scope):
            var v6 = sockaddr_in6()
            v6.sin6_family = sa_family_t(AF_INET6)
            v6.sin6_port = address.port.bigEndian
            v6.sin6_scope_id = scope
            unsafe withUnsafeMutableBytes(of: &v6.sin6_addr) {
                unsafe $0.storeBytes(of: high.bigEndian, as: UInt64.self)
                unsafe $0.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
            }
            unsafe withUnsafeMutableBytes(of: &storage) { unsafe $0.storeBytes(of: v6, as: sockaddr_in6.self) }
            return (storage, socklen_t(MemoryLayout<sockaddr_in6>.size))
        }
    }
}
