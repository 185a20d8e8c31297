import Wire

/// What one subscriber may ask for: its receiver is anybody's, and neither amplifies nor drives the encoder (docs/design.md 5.7).
struct FeedbackBudget {
    private var windowStart = MonotonicTime.zero
    private var sent = 0
    private var retransmitted = 0
    private var keyframeAsked: MonotonicTime?

    mutating func sent(at now: MonotonicTime) {
        roll(now)
        sent += 1
    }

    /// A fifth of what is sent may be sent again, and a few packets more.
    mutating func admitsRetransmission(at now: MonotonicTime) -> Bool {
        roll(now)
        return retransmitted < Self.freeRetransmissions + sent / 5
    }

    /// A packet was sent again.
    mutating func retransmitted(at now: MonotonicTime) {
        roll(now)
        retransmitted += 1
    }

    mutating func admitsKeyframeRequest(at now: MonotonicTime) -> Bool {
        if let keyframeAsked, now - keyframeAsked < Self.keyframeInterval { return false }
        keyframeAsked = now
        return true
    }

    private mutating func roll(_ now: MonotonicTime) {
        guard now - windowStart >= .seconds(1) else { return }
        // What was sent in the second before counts on, so that the first moment of a second is no shortage.
        (windowStart, sent, retransmitted) = (now, sent / 2, 0)
    }

    private static let freeRetransmissions = 64
    private static let keyframeInterval: Duration = .milliseconds(500)
}
