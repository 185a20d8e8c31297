import Admission
import Refusals

/// One live publish's replica on one further stage: its lease there, and the media that goes with it (docs/design.md 7.9).
///
/// A value without clock, thread or I/O: every input returns what is to be done, in that order. Whatever happens, a lease that
/// was granted is released once.
///
///     waiting ◄─► claiming ─► live ─► lingering (the source is being taken over) ─► over
///        └────────────┴─────────┴───────────────────────────────────────────────────► over
struct ReplicaMachine: Sendable {
    enum Action: Equatable, Sendable {
        /// Ask for the destination's lease. The answer is `claimed`.
        case claim(takeOver: Bool)
        /// Let media go to the destination.
        case begin(PublishLease)
        /// End what `begin` began.
        case end(SessionEnd)
        case release(PublishLease)
        /// Whoever takes the source over shall find the lease held; call `lingered` after a while.
        case linger
        /// The destination does not take it.
        case refuse(Refusal)
        /// The destination does not take it now; call `waited` after so long.
        case wait(Duration, Refusal)
        /// Somebody has ended it on the destination: the replication is over.
        case stop
        /// Another publish has the lease: the replication is over unless the source is being taken over, which shows in a while.
        case suspect
    }

    private enum State: Sendable {
        case new
        case claiming(takesOver: Bool, end: LeaseEnd?)
        case waiting
        case live(PublishLease)
        case lingering(PublishLease)
        case over
    }

    /// It was active before, so that a refusal that may pass does not end it. Of a first start,
    /// whoever asked for it hears at once.
    private let isReturning: Bool
    private var state = State.new
    private var pause = Self.firstPause

    init(isReturning: Bool = false) { self.isReturning = isReturning }

    var isOver: Bool { if case .over = state { true } else { false } }

    var lease: PublishLease? {
        switch state {
        case .live(let lease), .lingering(let lease): lease
        case .new, .claiming, .waiting, .over: nil
        }
    }

    mutating func start() -> [Action] {
        guard case .new = state else { return [] }
        return claim(takesOver: false)
    }

    private mutating func claim(takesOver: Bool) -> [Action] {
        state = .claiming(takesOver: takesOver, end: nil)
        return [.claim(takeOver: takesOver)]
    }

    /// - Parameter isOurs: whoever holds the lease is a replica of the same replication, of a publish that is being taken over.
    mutating func claimed(_ answer: ClaimAnswer, isOurs: Bool) -> [Action] {
        guard case .claiming(let takesOver, let end) = state else {
            if case .granted(let lease) = answer { return [.release(lease)] }
            return []
        }
        switch answer {
        case .granted(let lease):
            state = .live(lease)
            return [.begin(lease)] + (end.map { leaseEnded($0) } ?? [])
        case .held where isOurs && !takesOver: return claim(takesOver: true)
        case .held: return refuse(Refusal(.streamKeyInUse))
        case .refused(let refusal) where isReturning && refusal.isPassing: return wait(refusal)
        case .refused(let refusal): return refuse(refusal)
        }
    }

    private mutating func wait(_ refusal: Refusal) -> [Action] {
        state = .waiting
        defer { pause = min(pause * 2, Self.longestPause) }
        return [.wait(pause, refusal)]
    }

    mutating func waited() -> [Action] {
        guard case .waiting = state else { return [] }
        return claim(takesOver: false)
    }

    private mutating func refuse(_ refusal: Refusal) -> [Action] {
        state = .over
        return [.refuse(refusal)]
    }

    /// The source's publish is over.
    mutating func sourceEnded(_ reason: SessionEnd) -> [Action] {
        if case .live(let lease) = state, reason == .takenOver {
            state = .lingering(lease)
            // Its routers let go of it, as nobody can say whether a successor comes.
            return [.end(.connectionLost), .linger]
        }
        return finish(reason)
    }

    /// The replication was stopped, or the node stops.
    mutating func unwanted(_ reason: SessionEnd) -> [Action] { finish(reason) }

    mutating func lingered() -> [Action] {
        guard case .lingering = state else { return [] }
        return finish(.takenOver)
    }

    mutating func leaseEnded(_ reason: LeaseEnd) -> [Action] {
        switch (state, reason) {
        case (.claiming(let takesOver, _), _):
            state = .claiming(takesOver: takesOver, end: reason)
            return []
        case (.live, .takenOver): return finish(.takenOver) + [.suspect]
        case (.live, .disconnected), (.lingering, .disconnected): return finish(.closed) + [.stop]
        case (.lingering, .takenOver): return finish(.takenOver)
        case (.new, _), (.waiting, _), (.over, _): return []
        }
    }

    private mutating func finish(_ reason: SessionEnd) -> [Action] {
        defer { state = .over }
        switch state {
        case .live(let lease): return [.end(reason), .release(lease)]
        case .lingering(let lease): return [.release(lease)]
        case .new, .claiming, .waiting, .over: return []
        }
    }

    private static let firstPause = Duration.seconds(1)
    private static let longestPause = Duration.seconds(30)
}

extension Refusal {
    /// It is about this moment, and the same claim may be granted in the next. A key in use is told as `held`, with its holder;
    /// as a refusal it means that a cluster could not say in time.
    fileprivate var isPassing: Bool { code.httpStatus == 503 || code == .internalError || code == .streamKeyInUse }
}
