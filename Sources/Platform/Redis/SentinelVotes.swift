/// What the sentinels say is the primary. A sentinel that was cut off may name an old one, so the many are believed first.
struct SentinelVotes {
    private let sentinelCount: Int
    private var voted = 0
    private var votes: [(endpoint: RedisEndpoint, count: Int)] = []

    init(sentinelCount: Int) { self.sentinelCount = sentinelCount }

    /// - Parameter vote: nil from a sentinel that knows no such primary, or does not answer.
    /// - Returns: whom to try, best first, as soon as more than half agree or all have spoken; nil until then.
    mutating func add(_ vote: RedisEndpoint?) -> [RedisEndpoint]? {
        voted += 1
        if let vote {
            if let index = votes.firstIndex(where: { $0.endpoint == vote }) {
                votes[index].count += 1
            } else {
                votes.append((vote, 1))
            }
        }
        let ranked = votes.enumerated().sorted { ($1.element.count, $0.offset) < ($0.element.count, $1.offset) }.map(\.element)
        if let first = ranked.first, first.count > sentinelCount / 2 { return [first.endpoint] }
        return voted >= sentinelCount ? ranked.map(\.endpoint) : nil
    }
}
