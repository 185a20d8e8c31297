public import Wire

/// A limit on WHIP and WHEP requests per source (RFC 9725 §5): 200 in a burst, 50 a second after that, so that
/// a venue of encoders behind one address gets in; IPv6 counts by /64.
public struct RequestRates {
    private struct Bucket {
        var tokens: Double
        var time: MonotonicTime
    }

    private var buckets: [IPAddress: Bucket] = [:]

    public init() {}

    public mutating func allows(_ address: IPAddress, now: MonotonicTime) -> Bool {
        let key = Self.network(of: address)
        if buckets[key] == nil, buckets.count >= Self.maximumSources { return false }
        var bucket = buckets[key] ?? Bucket(tokens: Self.burst, time: now)
        bucket.tokens = min(Self.burst, bucket.tokens + (now - bucket.time).inSeconds * Self.perSecond)
        bucket.time = now
        defer { buckets[key] = bucket }
        guard bucket.tokens >= 1 else { return false }
        bucket.tokens -= 1
        return true
    }

    /// Drops sources that have been quiet long enough to have a full bucket again.
    public mutating func forget(before now: MonotonicTime) {
        buckets = buckets.filter { (now - $0.value.time).inSeconds * Self.perSecond + $0.value.tokens < Self.burst }
    }

    private static func network(of address: IPAddress) -> IPAddress {
        guard case .v6(let high, _, _) = address else { return address }
        return .v6(high: high, low: 0, scope: 0)
    }

    private static let burst = 200.0
    private static let perSecond = 50.0
    private static let maximumSources = 8_192
}
