import Redis
import Testing

@Suite("Where servers are")
struct RedisEndpointTests {
    @Test(arguments: [
        ("redis.example", "redis.example:7000"), ("192.0.2.1", "192.0.2.1:7000"), ("2001:db8::1", "[2001:db8::1]:7000"),
    ])
    func `an endpoint prints as a URL has it`(_ host: String, _ text: String) {
        #expect(RedisEndpoint(host: host, port: 7_000).description == text)
    }
}
