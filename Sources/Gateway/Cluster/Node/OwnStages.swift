import Settings
import Wire

/// The stages that this node looks after. The server has them as a set, for whoever sweeps after this node.
///
/// Once nobody publishes there through this node, it waits for the session's end, tells the history of it, and leaves the stage.
struct OwnStages: Sendable {
    /// A stage on which nobody publishes through this node.
    private struct Idle {
        /// When to ask whether its session is over.
        var asksAt: MonotonicTime
        /// The session of whose end the history was told; the server may not know so yet.
        var told: String?
    }

    private let linger: Duration
    private let leaseLifetime: Duration
    private let renewalInterval: Duration
    private var marked: Set<String> = []
    /// Not all of them are marked: who was refused may have begun a session.
    private var idle: [String: Idle] = [:]
    /// Sessions that began here while the servers were away. If others began one of their own, the
    /// servers know one of them alone.
    private var alone: [String: [String]] = [:]
    /// Whether those that the process before this one left in the set are among them.
    private(set) var hasTakenUp = false

    init(_ settings: NodeSettings) {
        linger = settings.quotas.sessionLinger
        (leaseLifetime, renewalInterval) = (settings.cluster.leaseLifetime, settings.cluster.renewalInterval)
    }

    // MARK: - The set

    func contains(_ stage: String) -> Bool { marked.contains(stage) }

    mutating func add(_ stages: [String]) { marked.formUnion(stages) }

    /// Puts all of them into the set again.
    var marks: [ClusterAction] { marked.isEmpty ? [] : [.call(.mark(stages: marked.sorted()))] }

    /// The process before this one looked after these stages. A node that is back this soon is not buried, so nobody else sees
    /// their sessions end. What that process still held has expired by the time they are asked about.
    /// - Parameter deserted: those of them on which nobody publishes through this process.
    mutating func takeUp(_ stages: [String], deserted: [String], _ now: MonotonicTime) {
        hasTakenUp = true
        add(stages)
        for stage in deserted where idle[stage] == nil { idle[stage] = Idle(asksAt: now + leaseLifetime) }
    }
}

// MARK: - The ends of their sessions

extension OwnStages {
    mutating func publishBegan(on stage: String) { idle[stage] = nil }

    mutating func beganAlone(_ session: String, on stage: String) { alone[stage, default: []].append(session) }

    /// Nobody publishes there through this node from now on, or still.
    mutating func awaitEnd(on stage: String, _ now: MonotonicTime) {
        idle[stage, default: Idle(asksAt: now)].asksAt = now + linger
    }

    /// A claim may leave a lease that only the server knows of: until that has expired the stage would count as live.
    mutating func outwaitClaim(on stage: String, _ now: MonotonicTime) {
        guard let known = idle[stage] else { return awaitEnd(on: stage, now) }
        idle[stage]?.asksAt = max(known.asksAt, now + leaseLifetime)
    }

    mutating func askForEnds(_ now: MonotonicTime) -> [ClusterAction] {
        idle.filter { now >= $0.value.asksAt }.inOrder.map { ask($0.key, told: $0.value.told, now) }
    }

    private mutating func ask(_ stage: String, told: String?, _ now: MonotonicTime) -> ClusterAction {
        idle[stage] = Idle(asksAt: now + renewalInterval, told: told)
        return .call(.idle(stage: stage, told: told))
    }

    /// - Parameter isClaimed: whether somebody asks for a lease of a stage, for which it has to be marked.
    mutating func answered(
        _ stage: String, _ idleness: ClusterAnswer.Idleness, isClaimed: (String) -> Bool, _ now: MonotonicTime
    ) -> [ClusterAction] {
        guard let known = idle[stage] else { return [] }
        switch idleness {
        case .wait(let rest):
            idle[stage] = Idle(asksAt: now + rest)
            return []
        case .ended(let session, let dropped):
            // It is answered until the server knows that the history was told; that was said already, and is again in its time.
            if known.told == session { return [] }
            return over(session, of: stage, dropped) + [ask(stage, told: session, now)]
        case .live, .none: return leave(stage, isClaimed: isClaimed(stage))
        }
    }

    private mutating func over(_ session: String, of stage: String, _ dropped: [EndedLease]) -> [ClusterAction] {
        alone[stage]?.removeAll { $0 == session }
        let ended = ClusterAction.sessionEnded(stage: stage, sessionID: session)
        return dropped.isEmpty ? [ended] : [.closed(stage: stage, dropped), ended]
    }

    private mutating func leave(_ stage: String, isClaimed: Bool) -> [ClusterAction] {
        idle[stage] = nil
        // The history takes no end of the one that the servers know to run.
        let ends = (alone.removeValue(forKey: stage) ?? []).map { ClusterAction.sessionEnded(stage: stage, sessionID: $0) }
        if isClaimed { return ends }
        marked.remove(stage)
        return ends + [.call(.unmark(stage: stage))]
    }
}
