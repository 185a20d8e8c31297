import Foundation
import Wire

/// The addresses of this machine's interfaces that are up.
enum InterfaceAddresses {
    static var all: [IPAddress] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return [] }
        defer { freeifaddrs(list) }
        var found: [IPAddress] = []
        var next = list
        while let entry = next?.pointee {
            next = entry.ifa_next
            guard entry.ifa_flags & UInt32(IFF_UP) != 0, let address = entry.ifa_addr, let ip = ip(address) else { continue }
            found.append(ip)
        }
        return found
    }

    static func ip(_ address: UnsafeMutablePointer<sockaddr>) -> IPAddress? {
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                .v4(UInt32(bigEndian: $0.pointee.sin_addr.s_addr))
            }
        case AF_INET6:
            return address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { pointer in
                withUnsafeBytes(of: pointer.pointee.sin6_addr) { bytes in
                    let high = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
                    let low = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
                    return IPAddress(v6High: high, low: low, scope: pointer.pointee.sin6_scope_id)
                }
            }
        default: return nil
        }
    }
}
