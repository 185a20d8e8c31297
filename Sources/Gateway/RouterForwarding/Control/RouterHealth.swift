public import Wire

/// Whether a router lives: dead after three failed checks, one a second, and 3 s without any RTCP.
///
/// A router that comes back is used again after three good checks in a row, and never takes back what moved away.
struct RouterHealth {
    static let checkInterval = Duration.seconds(1)
    static let failuresToDie = 3
    static let silenceToDie = Duration.seconds(3)
    static let successesToReturn = 3

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
}

/// What shows whether a router is well.
enum RouterSign: Sendable, Equatable {
    case check(isGood: Bool)
    case unansweredAnnounce

    var isGood: Bool { self == .check(isGood: true) }
}

/// Which routers are dead for this gateway alone: another one's heartbeat still sees them, so their stages stay where they are
/// and new publishes for them are refused here.
public struct RouterReach {
    /// Heartbeats are up to 3 s old, and the others may need as long to see that a router has really died.
    static let patience = Duration.seconds(6)

    private var since: [String: MonotonicTime] = [:]

    public init() {}

    /// - Returns: the routers that have been dead here and alive to others for so long that it is this gateway's way to them.
    public mutating func outOfReach(
        dead: Set<String>, seenByOthers: Set<String>, at now: MonotonicTime
    ) -> Set<String> {
        let doubtful = dead.intersection(seenByOthers)
        since = since.filter { doubtful.contains($0.key) }
        for router in doubtful where since[router] == nil { since[router] = now }
        return Set(since.filter { now - $0.value >= Self.patience }.keys)
    }
}
