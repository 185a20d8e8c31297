import Testing

@testable import Redis

@Suite("Where servers are")
struct RedisEndpointTests {
    static let endpoints: [(text: String, endpoint: RedisEndpoint?)] = [
        ("redis", RedisEndpoint(host: "redis", port: 6379)),
        ("redis.example:7000", RedisEndpoint(host: "redis.example", port: 7_000)),
        ("192.0.2.1:7000", RedisEndpoint(host: "192.0.2.1", port: 7_000)),
        ("192.0.2.1", RedisEndpoint(host: "192.0.2.1", port: 6379)),
        ("[2001:db8::1]:7000", RedisEndpoint(host: "2001:db8::1", port: 7_000)),
        ("", nil), (":7000", nil), ("redis:", nil), ("redis:0", nil), ("redis:70000", nil), ("a:b:c", nil),
        ("redis://host:6379", nil), ("ho st", nil), ("2001:db8::1", nil),
    ]

    @Test(arguments: 0..<endpoints.count)
    func `an endpoint is a name or an address, and a port`(index: Int) {
        #expect(RedisEndpoint(Self.endpoints[index].text) == Self.endpoints[index].endpoint)
    }

    @Test func `an endpoint prints as it is written`() {
        for text in ["redis.example:7000", "192.0.2.1:7000", "[2001:db8::1]:7000"] {
            #expect(RedisEndpoint(text)?.description == text)
        }
    }
}
