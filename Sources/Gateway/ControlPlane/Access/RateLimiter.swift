import Settings
import Wire

/// Requests per second of each access key for each operation: one second's worth at once.
struct RateLimiter {
    private struct Key: Hashable {
        var accessKeyID: String
        var action: AccessAction
    }

    private let rates: RateSettings
    /// Of keys that exist, so that there are no more than keys times operations.
    private var allowances: [Key: Allowance] = [:]

    init(_ rates: RateSettings) { self.rates = rates }

    /// - Parameter accessKeyID: empty where no signature is demanded.
    mutating func admit(_ operation: Operation, of accessKeyID: String, at now: MonotonicTime) -> Bool {
        admit(AccessAction(operation), rate: rate(of: operation), of: accessKeyID, at: now)
    }

    /// One of CloudWatch's.
    mutating func admitMetrics(_ action: AccessAction, of accessKeyID: String, at now: MonotonicTime) -> Bool {
        admit(action, rate: Self.metricsRate, of: accessKeyID, at: now)
    }

    private mutating func admit(
        _ action: AccessAction, rate: Int, of accessKeyID: String, at now: MonotonicTime
    ) -> Bool {
        let key = Key(accessKeyID: accessKeyID, action: action)
        return allowances[key, default: Allowance(rate, then: .seconds(1) / rate)].take(at: now)
    }

    /// CloudWatch's own of ListMetrics, the lowest that it has.
    private static let metricsRate = 25

    private func rate(of operation: Operation) -> Int {
        switch operation {
        case .createParticipantToken: rates.tokens
        case .importPublicKey, .getPublicKey, .listPublicKeys, .deletePublicKey: rates.publicKeys
        case .tagResource, .untagResource, .listTagsForResource: rates.tags
        default: rates.resources
        }
    }
}
