import Foundation
import Wire

/// The addresses of this machine's interfaces that are up.
enum InterfaceAddresses {
    static var all: [IPAddress] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard unsafe getifaddrs(&list) == 0 else { return [] }
        defer { unsafe freeifaddrs(list) }
        var found: [IPAddress] = []
        var next = unsafe list
        while let entry = unsafe next?.pointee {
            unsafe next = entry.ifa_next
            guard unsafe entry.ifa_flags & UInt32(IFF_UP) != 0, let address = unsafe entry.ifa_addr, let ip = unsafe ip(address)
            else { continue }
            found.append(ip)
        }
        return found
    }

    /// Nil for families other than IPv4 and IPv6.
    static func ip(_ address: UnsafeMutablePointer<sockaddr>) -> IPAddress? {
        switch unsafe Int32(address.pointee.sa_family) {
        case AF_INET:
            return unsafe address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                unsafe .v4(UInt32(bigEndian: $0.pointee.sin_addr.s_addr))
            }
        case AF_INET6:
            return unsafe address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { pointer in
                unsafe withUnsafeBytes(of: pointer.pointee.sin6_addr) { bytes in
                    let high = unsafe UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
                    let low = unsafe UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
                    return unsafe IPAddress(v6High: high, low: low, scope: pointer.pointee.sin6_scope_id)
                }
            }
        default: return nil
        }
    }
}
