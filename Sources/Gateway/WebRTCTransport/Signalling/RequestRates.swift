public import Wire

/// A limit on requests per source, for each public endpoint of each worker (RFC 9725 §5): 200 in a burst, 50 a second after that,
/// so that a venue of encoders behind one address gets in; IPv6 counts by /64.
public struct RequestRates {
    private struct Bucket {
        var tokens: Double
        var time: MonotonicTime
    }

    /// A bucket is full again after as long as it takes to fill an empty one, and worth no memory from then on.
    private var buckets = FadingTable<IPAddress, Bucket>(
        maximumCount: maximumSources, lifetime: .nanoseconds(Int64(burst / perSecond * 1e9)))

    public init() {}

    public mutating func allows(_ address: IPAddress, now: MonotonicTime) -> Bool {
        let key = address.network
        var bucket = buckets.value(of: key, at: now) ?? Bucket(tokens: Self.burst, time: now)
        bucket.tokens = min(Self.burst, bucket.tokens + (now - bucket.time).inSeconds * Self.perSecond)
        bucket.time = now
        defer { buckets.set(bucket, for: key, at: now) }
        guard bucket.tokens >= 1 else { return false }
        bucket.tokens -= 1
        return true
    }

    /// What `allows` took turned out to be no stranger's.
    public mutating func giveBack(to address: IPAddress, now: MonotonicTime) {
        let key = address.network
        guard var bucket = buckets.value(of: key, at: now) else { return }
        bucket.tokens = min(Self.burst, bucket.tokens + 1)
        buckets.set(bucket, for: key, at: now)
    }

    /// Sources remembered now.
    public mutating func sourceCount(at now: MonotonicTime) -> Int { buckets.count(at: now) }

    private static let burst = 200.0
    private static let perSecond = 50.0
    public static let maximumSources = 8_192
}
