import Wire

/// What one subscriber may ask for: its receiver is anybody's, and neither amplifies nor drives the encoder (docs/design.md 5.7).
///
/// What is sent again is no `Allowance`: packets that were sent earn it, not time.
struct FeedbackBudget {
    private var windowStart = MonotonicTime.zero
    private var sent = 0
    private var retransmitted = 0
    private var keyframeRequests = Allowance(1, then: .milliseconds(500))

    mutating func sent(at now: MonotonicTime) {
        roll(now)
        sent += 1
    }

    /// A fifth of what is sent may be sent again and a few packets more, but not more than a quarter of what the way carries:
    /// what a full way has dropped comes through no better by being sent again at once.
    /// - Parameter carried: bits a second; nil while it is not known.
    mutating func admitsRetransmission(of carried: Int?, at now: MonotonicTime) -> Bool {
        roll(now)
        let share = carried.map { max(Self.fewestRetransmissions, $0 / Self.bitsPerRetransmission) } ?? .max
        return retransmitted < min(share, Self.freeRetransmissions + sent / 5)
    }

    /// A packet was sent again.
    mutating func retransmitted(at now: MonotonicTime) {
        roll(now)
        retransmitted += 1
    }

    mutating func admitsKeyframeRequest(at now: MonotonicTime) -> Bool { keyframeRequests.take(at: now) }

    private mutating func roll(_ now: MonotonicTime) {
        guard now - windowStart >= .seconds(1) else { return }
        // What was sent in the second before counts on, so that the first moment of a second is no shortage.
        (windowStart, sent, retransmitted) = (now, sent / 2, 0)
    }

    private static let freeRetransmissions = 64
    private static let fewestRetransmissions = 4
    /// Of what the way carries: four full packets' bits.
    private static let bitsPerRetransmission = 4 * 1_200 * 8
}
