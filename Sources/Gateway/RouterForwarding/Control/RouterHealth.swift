import Wire

/// Whether a router lives: dead after three failed checks, one a second, and 3 s without any RTCP.
///
/// A router that comes back is used again after three good checks in a row, and never takes back what moved away.
struct RouterHealth {
    private(set) var isDead = false
    private var failures = 0
    private var successes = 0
    private var hasAnswered = false
    private var lastFeedback: MonotonicTime?

    /// Whether new stages may be placed there.
    var isEligible: Bool { !isDead && failures == 0 }
    /// Whether new publishes may hope for it: one failed check of a router that has answered before says little yet.
    var isPromising: Bool { !isDead && (failures == 0 || hasAnswered) }

    mutating func feedbackCame(at moment: MonotonicTime) { lastFeedback = max(moment, lastFeedback ?? moment) }

    /// Counts a check, or an announce without an answer.
    /// - Returns: whether the router has just died.
    mutating func checked(isGood: Bool, at now: MonotonicTime) -> Bool {
        guard !isGood else {
            (failures, successes, hasAnswered) = (0, successes + 1, true)
            if successes >= Self.successesToReturn { isDead = false }
            return false
        }
        (failures, successes) = (failures + 1, 0)
        let isSilent = lastFeedback.map { now - $0 >= Self.silenceToDie } ?? true
        guard !isDead, failures >= Self.failuresToDie, isSilent else { return false }
        isDead = true
        return true
    }

    static let checkInterval = Duration.seconds(1)
    static let failuresToDie = 3
    static let silenceToDie = Duration.seconds(3)
    static let successesToReturn = 3
}

/// What shows whether a router is well.
enum RouterSign: Sendable, Equatable {
    case check(isGood: Bool)
    case unansweredAnnounce

    var isGood: Bool { self == .check(isGood: true) }
}
