import Foundation
import GatewayLogging
import RouterForwarding
import Wire

/// Where routers' URLs lead, asked once at start: media may go there unless the configuration says otherwise.
enum RouterAddress {
    /// A name that leads nowhere does not keep the gateway from starting, as there may be other routers: that one is dead until
    /// it answers, and its media may go to where it answers.
    /// - Parameter urls: by router.
    static func routes(to urls: [String: String]) throws -> [String: RouterDrivers.Route] {
        var hosts: [String: String] = [:]
        for (router, url) in urls {
            hosts[router] = host(of: url)
            if hosts[router] == nil { throw StartupError.router("routers.\(router).url: “\(url)” has no host") }
        }
        let found = try HostAddresses.resolveAll(Array(hosts.values))
        var routes: [String: RouterDrivers.Route] = [:]
        for (router, host) in hosts {
            let addresses = found[host] ?? []
            if addresses.isEmpty {
                Log.event(.error, "router_unresolved", ["router": .string(router), "host": .string(host)])
            }
            routes[router] = RouterDrivers.Route(addresses: addresses, source: addresses.first.flatMap(source))
        }
        return routes
    }

    static func host(of url: String) -> String? {
        let host = URLComponents(string: url)?.host?.trimmingCharacters(in: ["[", "]"])
        return host?.isEmpty == false ? host : nil
    }

    /// The address of ours that the kernel would send from; nothing is sent to find out.
    private static func source(toward address: IPAddress) -> IPAddress? {
        var hints = unsafe addrinfo()
        unsafe (hints.ai_flags, hints.ai_socktype) = (AI_NUMERICHOST, CInt(SOCK_DGRAM.rawValue))
        var list: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo("\(address)", "9", &hints, &list) == 0, let entry = unsafe list?.pointee else {
            return nil
        }
        defer { unsafe freeaddrinfo(list) }
        let descriptor = unsafe socket(entry.ai_family, CInt(SOCK_DGRAM.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard unsafe connect(descriptor, entry.ai_addr, entry.ai_addrlen) == 0 else { return nil }
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { own in
                unsafe getsockname(descriptor, own, &length) == 0 ? InterfaceAddresses.ip(own) : nil
            }
        }
    }
}
