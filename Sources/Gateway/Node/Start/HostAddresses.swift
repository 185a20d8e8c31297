import EventLoop
import Foundation
import Wire

/// What a host name leads to, by the system's resolver. Blocks: for the start, and threads that serve nobody.
enum HostAddresses {
    /// Asks for all of them at once: a name server that is silent is waited for once.
    /// - Throws: when the kernel refuses a thread.
    static func resolveAll(
        _ hosts: [String], by lookUp: @escaping @Sendable (String) -> [IPAddress] = { HostAddresses.resolve($0) }
    ) throws(SystemError) -> [String: [IPAddress]] {
        let found = Lock<[String: [IPAddress]]>([:])
        let threads = try Set(hosts).map { host throws(SystemError) in
            try WorkerThread.start(name: "resolver") {
                let addresses = lookUp(host)
                found.withLock { $0[host] = addresses }
            }
        }
        for thread in threads { thread.join() }
        return found.withLock { $0 }
    }

    /// In the resolver's order, each once; none where the name leads nowhere. An address leads to itself.
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
