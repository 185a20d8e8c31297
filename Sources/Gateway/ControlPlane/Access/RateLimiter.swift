import Settings
import Wire

/// Requests per second for each operation: a bucket that holds one second's worth.
struct RateLimiter {
    private struct Bucket {
        var tokens: Double
        var at: MonotonicTime
    }

    private let rates: RateSettings
    private var buckets: [Operation: Bucket] = [:]

    init(_ rates: RateSettings) { self.rates = rates }

    mutating func admit(_ operation: Operation, at now: MonotonicTime) -> Bool {
        let rate = Double(rate(of: operation))
        var bucket = buckets[operation] ?? Bucket(tokens: rate, at: now)
        bucket.tokens = min(rate, bucket.tokens + (now - bucket.at).inSeconds * rate)
        bucket.at = now
        defer { buckets[operation] = bucket }
        guard bucket.tokens >= 1 else { return false }
        bucket.tokens -= 1
        return true
    }

    private func rate(of operation: Operation) -> Int {
        switch operation {
        case .createParticipantToken: rates.tokens
        case .importPublicKey, .getPublicKey, .listPublicKeys, .deletePublicKey: rates.publicKeys
        case .tagResource, .untagResource, .listTagsForResource: rates.tags
        default: rates.resources
        }
    }
}
