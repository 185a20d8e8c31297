import Settings
import Wire

/// The ends of sessions of stages on which nobody publishes through this node.
extension NodeMachine {
    mutating func watchIdleness(of stage: String, _ now: MonotonicTime) {
        if held[stage] == nil { idle[stage, default: IdleStage(asksAt: now)].asksAt = now + settings.quotas.sessionLinger }
    }

    /// A claim may leave a lease that only the server knows of: until that has expired the stage would count as live.
    mutating func outwaitClaim(on stage: String, _ now: MonotonicTime) {
        guard let known = idle[stage] else { return watchIdleness(of: stage, now) }
        idle[stage]?.asksAt = max(known.asksAt, now + settings.cluster.leaseLifetime)
    }

    /// The process before this one saw to these stages. Who is back so soon is not buried: nobody else sees their sessions end.
    /// What it still held has expired when they are asked for.
    mutating func takeUp(_ stages: [String], _ now: MonotonicTime) {
        hasTakenUp = true
        marked.formUnion(stages)
        for stage in stages where held[stage] == nil && idle[stage] == nil {
            idle[stage] = IdleStage(asksAt: now + settings.cluster.leaseLifetime)
        }
    }

    mutating func askForIdleness(_ now: MonotonicTime) -> [ClusterAction] {
        idle.filter { now >= $0.value.asksAt }.inOrder.map { askForIdleness(of: $0.key, told: $0.value.told, now) }
    }

    private mutating func askForIdleness(of stage: String, told: String?, _ now: MonotonicTime) -> ClusterAction {
        idle[stage] = IdleStage(asksAt: now + settings.cluster.renewalInterval, told: told)
        return .call(.idle(stage: stage, told: told))
    }

    mutating func idleness(of stage: String, _ answer: ClusterAnswer?, _ now: MonotonicTime) -> [ClusterAction] {
        guard case .idle(let idleness) = answer, let known = idle[stage] else { return [] }
        switch idleness {
        case .wait(let rest):
            idle[stage] = IdleStage(asksAt: now + rest)
            return []
        case .ended(let session, let dropped):
            // It is answered until the server knows that the history was told; that was said already, and is again in its time.
            if known.told == session { return [] }
            return over(session, of: stage, dropped) + [askForIdleness(of: stage, told: session, now)]
        case .live, .none: return leave(stage)
        }
    }

    private func over(_ session: String, of stage: String, _ dropped: [EndedLease]) -> [ClusterAction] {
        let ended = ClusterAction.sessionEnded(stage: stage, sessionID: session)
        return dropped.isEmpty ? [ended] : [.closed(stage: stage, dropped), ended]
    }

    private mutating func leave(_ stage: String) -> [ClusterAction] {
        idle[stage] = nil
        if claims.values.contains(where: { $0.key.stageID == stage }) { return [] }
        marked.remove(stage)
        return [.call(.unmark(stage: stage))]
    }
}
