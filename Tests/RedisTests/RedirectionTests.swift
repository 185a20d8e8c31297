import Testing

@testable import Redis

@Suite("Cluster redirections")
struct RedirectionTests {
    static let redirections: [(text: String, redirection: Redirection?)] = [
        ("MOVED 3999 127.0.0.1:6381", .moved(KeySlot(3_999)!, RedisEndpoint(host: "127.0.0.1", port: 6381))),
        ("MOVED 3999 :6381", .moved(KeySlot(3_999)!, RedisEndpoint(host: "asked", port: 6381))),
        ("MOVED 3999 2001:db8::1:6381", .moved(KeySlot(3_999)!, RedisEndpoint(host: "2001:db8::1", port: 6381))),
        ("ASK 3999 redis-3:6381", .ask(RedisEndpoint(host: "redis-3", port: 6381))),
        ("TRYAGAIN Multiple keys request during rehashing of slot", .tryAgain),
        ("CLUSTERDOWN The cluster is down", .clusterDown),
        ("MOVED 16384 127.0.0.1:6381", nil), ("MOVED 1 127.0.0.1", nil), ("MOVED", nil), ("ASK 1 a:70000", nil), ("ERR no", nil),
    ]

    @Test(arguments: 0..<redirections.count)
    func `a refusal may say who to ask`(index: Int) {
        #expect(Redirection(RedisRefusal(Self.redirections[index].text), from: "asked") == Self.redirections[index].redirection)
    }

    @Test func `one redirection among the answers is one of all, and a request is sent on five times at most`() throws {
        let ask = RedisReply.failure(.refused(RedisRefusal("ASK 1 a:1")))
        let endpoint = RedisEndpoint(host: "a", port: 1)
        #expect(Redirection(in: [.success(.status("OK")), ask], from: "b") == .ask(endpoint))
        #expect(Redirection(in: [.success(.null), .failure(.lost)], from: "b") == nil)
        var redirections = Redirections()
        #expect(redirections.next(after: .ask(endpoint)) == .send(to: endpoint, isAsking: true))
        #expect(redirections.next(after: .moved(try #require(KeySlot(1)), endpoint)) == .send(to: endpoint, isAsking: false))
        #expect(redirections.next(after: .tryAgain) == .sendAgain(after: .milliseconds(200)))
        #expect(redirections.next(after: .clusterDown) == .sendAgain(after: .milliseconds(400)))
        #expect(redirections.next(after: .ask(endpoint)) == .send(to: endpoint, isAsking: true))
        #expect(redirections.next(after: nil) == .deliver)
        var other = redirections
        #expect(other.next(after: .ask(endpoint)) == .giveUp)
        #expect(redirections.next(after: .tryAgain) == .deliver)
    }
}
