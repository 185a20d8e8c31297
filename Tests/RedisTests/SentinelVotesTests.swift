import Testing

@testable import Redis

@Suite("Sentinels' votes and news")
struct SentinelVotesTests {
    static let (a, b) = (RedisEndpoint(host: "192.0.2.1"), RedisEndpoint(host: "192.0.2.2"))

    static let tables: [(sentinels: Int, votes: [RedisEndpoint?], decision: [RedisEndpoint], after: Int)] = [
        (1, [a], [a], 1),
        (3, [a, a], [a], 2),
        // One was cut off and names the old primary.
        (3, [b, a, a], [a], 3),
        (3, [nil, a, a], [a], 3),
        (5, [b, a, nil, a, a], [a], 5),
        // No majority: the many first, then who spoke first.
        (3, [a, b, nil], [a, b], 3),
        (5, [b, a, nil, a, nil], [a, b], 5),
        (3, [nil, nil, a], [a], 3),
        (3, [nil, nil, nil], [], 3),
    ]

    @Test(arguments: 0..<tables.count)
    func `more than half decide at once, else all are heard`(index: Int) {
        let (sentinels, ballots, decision, after) = Self.tables[index]
        var votes = SentinelVotes(sentinelCount: sentinels)
        for (number, ballot) in ballots.enumerated() {
            #expect(votes.add(ballot) == (number + 1 == after ? decision : nil))
        }
    }

    @Test(arguments: [
        ("gate 10.0.0.1 6379 10.0.0.2 6380", RedisEndpoint(host: "10.0.0.2", port: 6380)),
        ("gate a 6379 redis-2 6380", RedisEndpoint(host: "redis-2", port: 6380)),
        ("other 10.0.0.1 6379 10.0.0.2 6380", nil), ("gate 10.0.0.1 6379", nil), ("gate a 1 b 70000", nil), ("", nil),
    ])
    func `a failover's news names the new primary`(text: String, primary: RedisEndpoint?) {
        #expect(SentinelWatch.newPrimary(called: "gate", in: Array(text.utf8)) == primary)
    }
}
