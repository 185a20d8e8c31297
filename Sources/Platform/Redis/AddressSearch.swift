import EventLoop
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
