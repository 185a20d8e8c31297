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

/// The servers of a list, names looked up. Whom the last round began with comes last in the next one.
final class EndpointSearch: AddressSearch {
    private var endpoints: [RedisEndpoint]
    private let lookup: HostLookup

    init(_ endpoints: [RedisEndpoint], lookup: HostLookup) { (self.endpoints, self.lookup) = (endpoints, lookup) }

    func search(_ found: @escaping (Result<[ServerCandidate], RedisFault>) -> Void) {
        let wanted = endpoints
        if let first = endpoints.first { endpoints = endpoints.dropFirst() + [first] }
        var answers: [RedisEndpoint: [SocketAddress]] = [:]
        for endpoint in Set(wanted) {
            lookup.find(endpoint) { addresses in
                answers[endpoint] = addresses
                guard answers.count == Set(wanted).count else { return }
                let candidates = wanted.flatMap { endpoint in
                    (answers[endpoint] ?? []).map {
                        ServerCandidate(address: $0, name: endpoint.address == nil ? endpoint.host : nil)
                    }
                }
                let names = wanted.map(\.description).joined(separator: ", ")
                found(candidates.isEmpty ? .failure(.notFound(names)) : .success(candidates))
            }
        }
    }
}
