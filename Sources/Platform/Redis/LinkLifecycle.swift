import Wire

/// How one connection is kept alive: search, try what was found in turn, pause, search again. Pure: events in, the next step out.
struct LinkLifecycle {
    enum Step: Equatable {
        case search
        case connect(ServerCandidate)
        case pause(Duration)
        case nothing
    }

    private enum State: Equatable {
        case idle, searching, connecting, pausing
        case up(since: MonotonicTime)
        case closed
    }

    /// A connection that stood so long was a good one: after it the search begins at once, and pauses begin short.
    static let steadyTime = Duration.seconds(5)

    private var state = State.idle
    private var candidates: ArraySlice<ServerCandidate> = []
    private var backoff: Backoff

    init(limits: RedisLimits) { backoff = Backoff(shortest: limits.shortestPause, longest: limits.longestPause) }

    var isUp: Bool { if case .up = state { true } else { false } }

    mutating func start() -> Step {
        guard state == .idle else { return .nothing }
        state = .searching
        return .search
    }

    mutating func found(_ candidates: [ServerCandidate], chance: Double) -> Step {
        guard state == .searching else { return .nothing }
        self.candidates = candidates[...]
        return next(chance: chance)
    }

    mutating func established(at now: MonotonicTime) {
        guard state == .connecting else { return }
        state = .up(since: now)
    }

    /// The attempt failed, or the connection that stood is lost.
    mutating func failed(at now: MonotonicTime, chance: Double) -> Step {
        switch state {
        case .connecting: return next(chance: chance)
        case .up(let since) where now - since >= Self.steadyTime:
            backoff.reset()
            state = .searching
            return .search
        case .up: return pause(chance: chance)
        case .idle, .searching, .pausing, .closed: return .nothing
        }
    }

    mutating func paused() -> Step {
        guard state == .pausing else { return .nothing }
        state = .searching
        return .search
    }

    /// There is reason to believe that a search would find a server now: no pause is waited out.
    mutating func hurry() -> Step {
        backoff.reset()
        return paused()
    }

    mutating func close() { state = .closed }

    private mutating func next(chance: Double) -> Step {
        guard let candidate = candidates.popFirst() else { return pause(chance: chance) }
        state = .connecting
        return .connect(candidate)
    }

    private mutating func pause(chance: Double) -> Step {
        state = .pausing
        return .pause(backoff.next(chance: chance))
    }
}

/// Pauses between attempts: doubling, and each shortened by chance to between half and the whole of itself, so that the nodes
/// of a platform do not come back all at once.
struct Backoff: Equatable {
    let shortest: Duration
    let longest: Duration
    private(set) var failures = 0

    init(shortest: Duration, longest: Duration) { (self.shortest, self.longest) = (shortest, longest) }

    /// - Parameter chance: at least 0, below 1.
    mutating func next(chance: Double) -> Duration {
        let doublings = min(failures, 16)
        failures += 1
        let pause = min(longest, shortest * (1 << doublings))
        return pause * (0.5 + chance / 2)
    }

    mutating func reset() { failures = 0 }
}
