import EventLoop
import Glibc
import Wire

/// A server that may be tried, and the name that its certificate must show.
struct ServerCandidate: Equatable {
    let address: SocketAddress
    let name: String?
}

/// Finds out where the server is, anew for each round of attempts.
protocol AddressSearch: AnyObject {
    /// Calls `found` once, never from inside this call, unless the search is dropped or begun again.
    func search(_ found: @escaping (Result<[ServerCandidate], RedisFault>) -> Void)
}

/// The servers of a list, names looked up. Each round begins with the next of them.
final class EndpointSearch: AddressSearch {
    private let endpoints: () -> [RedisEndpoint]
    private let lookup: HostLookup
    private var round = 0

    /// - Parameter endpoints: asked in each round, because the list may grow and shrink.
    init(lookup: HostLookup, _ endpoints: @escaping () -> [RedisEndpoint]) {
        (self.lookup, self.endpoints) = (lookup, endpoints)
    }

    convenience init(_ endpoints: [RedisEndpoint], lookup: HostLookup) { self.init(lookup: lookup) { endpoints } }

    func search(_ found: @escaping (Result<[ServerCandidate], RedisFault>) -> Void) {
        let known = endpoints()
        let start = known.isEmpty ? 0 : round % known.count
        let wanted = Array(known[start...] + known[..<start])
        round += 1
        var answers: [RedisEndpoint: [SocketAddress]] = [:]
        let different = Set(wanted)
        for endpoint in different {
            lookup.find(endpoint) { addresses in
                answers[endpoint] = addresses
                if answers.count == different.count { found(Self.candidates(wanted, at: answers)) }
            }
        }
    }

    private static func candidates(
        _ endpoints: [RedisEndpoint], at addresses: [RedisEndpoint: [SocketAddress]]
    ) -> Result<[ServerCandidate], RedisFault> {
        let candidates = endpoints.flatMap { endpoint in
            let name = endpoint.address == nil ? endpoint.host : nil
            return (addresses[endpoint] ?? []).map { ServerCandidate(address: $0, name: name) }
        }
        if candidates.isEmpty { return .failure(.notFound(endpoints.map(\.description).joined(separator: ", "))) }
        return .success(candidates)
    }
}

/// Asks the system's resolver on a thread of its own, because it blocks, and answers on the loop.
final class HostLookup {
    /// Of one name that are tried.
    private static let maximumAddresses = 8

    private let replies: ReplyBox

    /// - Throws: when the kernel gives no more descriptors.
    init(loop: EventLoop) throws(SystemError) { replies = try ReplyBox(loop: loop) }

    /// Calls `found` once, never from inside this call; with nothing when nobody knows the name.
    func find(_ endpoint: RedisEndpoint, _ found: @escaping ([SocketAddress]) -> Void) {
        var reply: Reply<[SocketAddress]>?
        replies.ask {
            reply = $0
        } then: {
            found($0 ?? [])
        }
        // What is answered from here on is heard in another turn.
        guard let reply else { return }
        if let address = endpoint.address { return _ = reply([address]) }
        _ = try? WorkerThread.start(name: "redis-lookup") { reply(Self.addresses(of: endpoint)) }
    }

    private static func addresses(of endpoint: RedisEndpoint) -> [SocketAddress] {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        unsafe hints.ai_flags = AI_ADDRCONFIG
        var first: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(endpoint.host, nil, &hints, &first) == 0 else { return [] }
        defer { unsafe freeaddrinfo(first) }
        var list = unsafe first
        var addresses: [SocketAddress] = []
        while let entry = unsafe list?.pointee, addresses.count < maximumAddresses {
            if let ip = unsafe numeric(entry) { addresses.append(SocketAddress(ip, port: endpoint.port)) }
            unsafe list = entry.ai_next
        }
        return addresses
    }

    private static func numeric(_ entry: addrinfo) -> IPAddress? {
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let status = unsafe getnameinfo(
            entry.ai_addr, entry.ai_addrlen, &text, socklen_t(text.count), nil, 0, CInt(NI_NUMERICHOST))
        guard status == 0 else { return nil }
        return IPAddress(String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }
}
