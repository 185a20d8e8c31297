import Settings
import Wire

/// How the node goes away: by a signal, which ends the process, by the API, which can take it back, or because another process
/// has its place.
///
/// A value without clock and socket: every input returns what is to be done, in this order. `DrainPlan` has the times.
struct DrainMachine {
    enum Action: Equatable {
        /// `/readyz` says from now on that the node goes away.
        case showLeaving
        /// `/readyz` says again that the node serves.
        case showServing
        /// New publishes are refused.
        case refusePublishes
        /// New publishes are taken again.
        case takePublishes
        /// Encoders that understand it are asked to connect elsewhere.
        case requestReconnect
        /// So many more streams are ended, the oldest first.
        case close(count: Int)
        /// The process before us has to end too.
        case terminatePredecessor
        /// `turn` is called ten times a second from now on.
        case startTurns
        case stopTurns
        /// The process after us learns that our last session has ended.
        case tellSuccessor
        /// The process ends.
        case stop
        case log(Event)
    }

    enum Event: Equatable {
        case started(endsProcess: Bool)
        case cancelled
        case finished
        /// A second signal came.
        case cutShort
        /// Nobody reads for our sessions any more.
        case abandoned
    }

    /// Who is there, at a turn.
    struct Census: Equatable {
        var live = 0
        /// Publishes that have a grant, and are neither live nor over.
        var starting = 0
        /// Live publishes of the processes before us.
        var predecessorLive = 0
        /// Whether a process before us has sessions.
        var hasPredecessor = false
    }

    /// A drain that is under way goes on by what they are changed to.
    var settings: DrainSettings {
        didSet {
            guard settings != oldValue else { return }
            let (own, present) = (settings, planSettings)
            plan?.apply(present)
            interrupted?.apply(own)
        }
    }
    private var plan: DrainPlan?
    /// What the API had begun when a process took our place; goes on when we come back.
    private var interrupted: DrainPlan?
    private var endsProcess = false
    /// A process after us has our place; ours lives on for its sessions.
    private var isSucceeded = false

    init(_ settings: DrainSettings) { self.settings = settings }

    /// Nil while the node serves.
    var phase: DrainPlan.Phase? { plan?.phase }

    /// Everything is over, and the process may end.
    var isOver: Bool { phase == .finished }

    /// A signal: drains, then ends the process; a second one ends it at once.
    mutating func terminate(_ census: Census, at now: MonotonicTime) -> [Action] {
        guard !endsProcess else { return [.log(.cutShort), .stop] }
        endsProcess = true
        let first: [Action] = census.hasPredecessor ? [.terminatePredecessor] : []
        if isOver { return first + [.stop] }
        if isSucceeded { plan = nil }
        return first + begin(census, at: now)
    }

    mutating func begin(_ census: Census, at now: MonotonicTime) -> [Action] {
        guard plan == nil else { return [] }
        plan = DrainPlan(settings, at: now)
        return [.showLeaving, .log(.started(endsProcess: endsProcess)), .startTurns] + turn(census, at: now)
    }

    /// Takes publishes again. A signal's drain is not taken back.
    mutating func cancel() -> [Action] {
        guard plan != nil, !endsProcess else { return [] }
        plan = nil
        return [.stopTurns, .showServing, .takePublishes, .log(.cancelled)]
    }

    /// A process after us has our place: live streams go on until their end, and then so does this process. A signal's drain
    /// goes on as it is.
    mutating func outlive(at now: MonotonicTime) -> [Action] {
        isSucceeded = true
        if endsProcess { return [] }
        interrupted = plan
        plan = DrainPlan(planSettings, at: now)
        return [.startTurns]
    }

    /// Whose place is taken refuses at once and waits long.
    private var planSettings: DrainSettings {
        guard isSucceeded, !endsProcess else { return settings }
        return DrainSettings(grace: .zero, timeout: settings.takeOverTimeout, closesPerSecond: settings.closesPerSecond)
    }

    /// The process after us has died: we serve as before, or go on with the drain that was under way.
    mutating func comeBack() -> [Action] {
        let turns = plan != nil
        if isSucceeded, !endsProcess { (plan, interrupted) = (interrupted, nil) }
        isSucceeded = false
        guard let phase else { return turns ? [.stopTurns] : [] }
        // The take-over's own refusal of publishes has just ended.
        return phase == .grace ? [] : [.refusePublishes]
    }

    /// The process after us has died, and its place had another one: nobody reads for our sessions any more.
    func abandon() -> [Action] { [.log(.abandoned), .stop] }

    mutating func turn(_ census: Census, at now: MonotonicTime) -> [Action] {
        let liveCount = count(census)
        return plan?.turn(liveCount: liveCount, at: now).flatMap(actions) ?? []
    }

    /// Whom the end waits for.
    private func count(_ census: Census) -> Int {
        guard isSucceeded else { return census.live + census.predecessorLive }
        // To the process before us we are the only way: while it has sessions we stay.
        let predecessorLive = census.hasPredecessor ? max(1, census.predecessorLive) : census.predecessorLive
        return census.live + census.starting + predecessorLive
    }

    private func actions(_ action: DrainPlan.Action) -> [Action] {
        switch action {
        case .refusePublishes:
            // Streams that outlive us are not to notice.
            return [.refusePublishes] + (!isSucceeded || endsProcess ? [.requestReconnect] : [])
        case .close(let count): return [.close(count: count)]
        case .finish:
            return [.stopTurns, .log(.finished)] + (isSucceeded ? [.tellSuccessor] : [])
                + (endsProcess || isSucceeded ? [.stop] : [])
        }
    }
}
