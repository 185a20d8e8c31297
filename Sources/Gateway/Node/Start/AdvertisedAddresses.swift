import EventLoop
import Foundation
import Settings
import Wire

/// The addresses given to WebRTC clients: what the operator set replaces what the interfaces have.
enum AdvertisedAddresses {
    /// In the operator's order, each once.
    /// - Parameter bound: what the media port is bound to.
    static func list(_ configured: [AdvertisedAddress], bound: IPAddress) throws -> [IPAddress] {
        var found: [IPAddress] = []
        for entry in configured.isEmpty ? [.interfaces] : configured {
            for address in try addresses(of: entry, bound: bound) where !found.contains(address) { found.append(address) }
        }
        return found
    }

    private static func addresses(of entry: AdvertisedAddress, bound: IPAddress) throws -> [IPAddress] {
        switch entry {
        case .address(let address): return [address]
        case .interfaces: return bound.isUnspecified ? interfaces(bound) : [bound]
        case .name(let name):
            let addresses = HostAddresses.resolve(name)
            guard !addresses.isEmpty else { throw StartupError.advertise("advertise.addresses: “\(name)” cannot be resolved") }
            return addresses
        }
    }

    /// IPv4 first: some clients take the first candidate only. Loopback last: it is for this machine.
    private static func interfaces(_ bound: IPAddress) -> [IPAddress] {
        let usable = InterfaceAddresses.all.filter { !$0.isLinkLocal && (!bound.isV4 || $0.isV4) }
        return usable.filter { $0.isV4 && !$0.isLoopback } + usable.filter { !$0.isV4 && !$0.isLoopback }
            + usable.filter { $0 == .loopback }
    }
}

/// What a host name leads to, by the system's resolver. Blocks: for the start, and threads that serve nobody.
enum HostAddresses {
    /// Asks for all of them at once: a name server that is silent is waited for once.
    /// - Throws: when the kernel refuses a thread.
    static func resolveAll(
        _ hosts: [String], by lookUp: @escaping @Sendable (String) -> [IPAddress] = { HostAddresses.resolve($0) }
    ) throws -> [String: [IPAddress]] {
        let found = Lock<[String: [IPAddress]]>([:])
        let threads = try Set(hosts).map { host in
            try WorkerThread.start(name: "resolver") {
                let addresses = lookUp(host)
                found.withLock { $0[host] = addresses }
            }
        }
        for thread in threads { thread.join() }
        return found.withLock { $0 }
    }

    static func resolve(_ host: String) -> [IPAddress] {
        if let address = IPAddress(host) { return [address] }
        var list: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(host, nil, nil, &list) == 0 else { return [] }
        defer { unsafe freeaddrinfo(list) }
        var addresses: [IPAddress] = []
        var next = unsafe list
        while let entry = unsafe next?.pointee {
            unsafe next = entry.ai_next
            if let address = unsafe entry.ai_addr.flatMap(InterfaceAddresses.ip), !addresses.contains(address) {
                addresses.append(address)
            }
        }
        return addresses
    }
}

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
