import Wire

/// Whether the server answers, and how long after a silence what others held is still theirs.
///
/// While the server is silent nobody can renew: when it is back, every lease has expired or, where it forgot, is gone. Whoever
/// asked first would take live keys. So a node first renews what it holds, and for a while takes nothing of others. A server that
/// refuses what is written, as with a full disk or memory, is as silent as one that does not answer.
struct Outage: Sendable {
    /// No connection stands; so it begins.
    private(set) var isAway = true
    private let silence: Duration
    private let grace: Duration
    private let interval: Duration
    private var lastAnswer: MonotonicTime?
    private var runID: String?
    private var graceEnd: MonotonicTime?
    private var kind = Grace.none
    /// Since when no heartbeat was written, whatever else the server answered.
    private var refusingSince: MonotonicTime?
    /// Since when the server has answered each heartbeat of this node at once: what others told it has arrived as well.
    private var steadySince = MonotonicTime.zero
    private var lastBeat = MonotonicTime.zero
    /// After this node stood still: until then the server may have before it what others told it meanwhile.
    private var catchUpEnd = MonotonicTime.zero

    /// - Parameters:
    ///   - silence: of the server, longer than which others may not have renewed what they held.
    ///   - grace: how long after such a silence nothing of others is taken.
    ///   - interval: of heartbeats.
    init(silence: Duration, grace: Duration, interval: Duration) {
        (self.silence, self.grace, self.interval) = (silence, grace, interval)
    }

    /// The server is there: everything that is held has to be renewed.
    /// - Parameter runID: which process of the server it is; nil where that is not known.
    mutating func connected(runID: String?, at now: MonotonicTime) {
        (isAway, steadySince, lastBeat) = (false, now, now)
        let hasRefused = isRefusing(at: now)
        refusingSince = nil
        defer { (lastAnswer, self.runID) = (now, runID) }
        // What went on before this process came is not known either.
        guard let lastAnswer else { return begin(.expired, at: now) }
        if self.runID != runID {
            begin(.unknown, at: now)
        } else if hasRefused || now - lastAnswer > silence {
            begin(.expired, at: now)
        }
    }

    /// The connection has gone; how long the server was silent counts from its last answer.
    mutating func disconnected() { isAway = true }

    /// - Returns: whether this answer ends a silence: then everything that is held has to be renewed now.
    mutating func answered(sentAt: MonotonicTime, at now: MonotonicTime) -> Bool {
        defer { lastAnswer = now }
        guard now - max(sentAt, lastAnswer ?? sentAt) > silence else { return false }
        begin(.expired, at: now)
        return true
    }

    /// - Parameter isWritten: whether the server has written the heartbeat down.
    /// - Returns: whether this ends a time in which it wrote nothing: then everything that is held has to be renewed now.
    mutating func heartbeatWritten(_ isWritten: Bool, at now: MonotonicTime) -> Bool {
        guard isWritten else {
            refusingSince = refusingSince ?? now
            return false
        }
        let hasRefused = isRefusing(at: now)
        refusingSince = nil
        if hasRefused { begin(.expired, at: now) }
        return hasRefused
    }

    /// Whether the server has written nothing for longer than a silence, though it answers.
    func isRefusing(at now: MonotonicTime) -> Bool { refusingSince.map { now - $0 > silence } ?? false }

    /// Leases of a stage could not be renewed though the server was there: one server of several was silent.
    mutating func begin(_ kind: Grace, at now: MonotonicTime) {
        let isOver = graceEnd.map { now >= $0 } ?? true
        if kind == .unknown || isOver { self.kind = kind }
        graceEnd = now + grace
    }

    /// A heartbeat, or a question after another node's: the same server has both.
    /// - Parameter sentAt: when it was sent; nil when there is no answer.
    mutating func heartbeatAnswered(sentAt: MonotonicTime?, at now: MonotonicTime) {
        defer { lastBeat = now }
        guard let sentAt, now - sentAt <= Self.promptness else { return steadySince = now }
        // Who told it nothing for a while does not know what it did.
        if now - lastBeat > interval + Self.promptness { catchUpEnd = now + Self.promptness }
    }

    /// From when on a silence of that length is the other node's own, and not one of the server.
    func trust(inSilenceOf silence: Duration) -> MonotonicTime {
        max(steadySince + silence, catchUpEnd, graceEnd ?? .zero)
    }

    /// How much of what others held is to be respected now.
    func grace(at now: MonotonicTime) -> Grace {
        if let graceEnd, now < graceEnd { return kind }
        return isRefusing(at: now) ? .expired : .none
    }

    /// An answer within that time is one at once.
    static let promptness = Duration.seconds(1)
}
