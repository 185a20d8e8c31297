import Refusals
import Settings
package import Wire

/// Keeping leases, giving them back, and losing them by what was read.
extension NodeMachine {
    /// What others said was perhaps not heard: it stands in the records.
    package mutating func renewNow(_ now: MonotonicTime) -> [ClusterAction] { renewAll(now) }

    mutating func renewAll(_ now: MonotonicTime) -> [ClusterAction] {
        renewalAt = now + settings.cluster.renewalInterval
        guard !outage.isAway else { return [] }
        return held.inOrder.map { stage, leases in
            .call(
                .renew(
                    stage: stage,
                    leases.inOrder.map { participant, lease in
                        ClusterCall.RenewedLease(
                            participantID: participant, generation: lease.generation, set: lease.set,
                            credential: lease.credential, session: lease.session)
                    }))
        }
    }

    mutating func renewed(
        _ stage: String, _ leases: [ClusterCall.RenewedLease], _ results: [ClusterAnswer.Renewal], _ now: MonotonicTime
    ) -> [ClusterAction] {
        if let last = lastRenewed[stage], now - last > settings.cluster.leaseLifetime { outage.begin(.expired, at: now) }
        lastRenewed[stage] = now
        var actions: [ClusterAction] = []
        for (asked, result) in zip(leases, results) {
            // What was given back or taken over here meanwhile is not the lease that was asked for.
            guard let lease = held[stage]?[asked.participantID], lease.generation == asked.generation else { continue }
            let key = LeaseKey(stageID: stage, participantID: asked.participantID)
            actions += follow(result, LeaseIdentity(key, generation: lease.granted))
        }
        return actions
    }

    /// - Parameter lease: as its session knows it.
    private mutating func follow(_ result: ClusterAnswer.Renewal, _ lease: LeaseIdentity) -> [ClusterAction] {
        switch result {
        case .ok: return []
        case .lost(_, let generation):
            highestGeneration = max(highestGeneration, generation)
            drop(lease.key)
            return [.end(lease, .takenOver)]
        case .end(let ending): return [.end(lease, .ending(ending))]
        case .revived(let generation):
            highestGeneration = max(highestGeneration, generation)
            held[lease.key.stageID]?[lease.key.participantID]?.generation = generation
            return [.revive(lease, generation: generation)]
        }
    }

    /// Gives a lease back; another one of the same participant stays.
    package mutating func release(_ lease: LeaseIdentity, _ now: MonotonicTime) -> [ClusterAction] {
        guard let entry = held[lease.key.stageID]?[lease.key.participantID], entry.granted == lease.generation else { return [] }
        drop(lease.key)
        let known = LeaseIdentity(lease.key, generation: entry.generation)
        if outage.isAway {
            unreleased.insert(known)
            return []
        }
        return [.call(.release(known))]
    }

    package mutating func releaseHeld(_ key: LeaseKey, _ now: MonotonicTime) -> [ClusterAction] {
        guard let entry = held[key.stageID]?[key.participantID] else { return [] }
        return release(LeaseIdentity(key, generation: entry.granted), now)
    }

    private mutating func drop(_ key: LeaseKey) {
        held[key.stageID]?[key.participantID] = nil
        guard held[key.stageID]?.isEmpty == true else { return }
        held[key.stageID] = nil
        lastRenewed[key.stageID] = nil
    }

    /// Ends a participant's publish, or all of a stage, wherever they live.
    package mutating func end(stage: String, participant: String?, _ ending: LeaseEnding) -> [ClusterAction] {
        let here = held[stage, default: [:]].filter { participant == nil || $0.key == participant }
        let ends = here.inOrder.map { name, lease in
            ClusterAction.end(
                LeaseIdentity(LeaseKey(stageID: stage, participantID: name), generation: lease.granted), .ending(ending))
        }
        return ends + [.call(.end(stage: stage, participant: participant, ending))]
    }

    /// What is known of a stage, beginning a session where one is needed.
    package mutating func look(at stage: String, number: Int, begins: Bool) -> [ClusterAction] {
        if outage.isAway { return [.looked(number: number, nil)] }
        let call: ClusterCall =
            begins
            ? .begin(stage: stage, sessionID: sources.makeSessionID(), number: number) : .look(stage: stage, number: number)
        return [.call(call)]
    }

    func tell(_ leases: [RemoteLease], _ ending: LeaseEnding, _ stage: String) -> [ClusterAction] {
        leases.filter { $0.node != settings.nodeID }.map { .send(.end($0.lease, ending), to: $0.node) }
    }
}

// MARK: - Messages

extension NodeMachine {
    package mutating func received(_ message: NodeMessage, _ now: MonotonicTime) -> [ClusterAction] {
        switch message {
        case .ask(let question):
            guard let lease = find(question.lease) else {
                return [.send(.answer(question: question.number, .gone), to: question.node)]
            }
            var known = question
            known.lease = lease
            return [.inspect(known)]
        case .answer(let number, let holding): return answered(number, holding, now)
        case .end(let lease, let ending):
            guard let lease = find(lease) else { return [] }
            return [.end(lease, .ending(ending))]
        case .takenOver(let lease):
            guard let entry = held[lease.key.stageID]?[lease.key.participantID], entry.generation < lease.generation else {
                return []
            }
            highestGeneration = max(highestGeneration, lease.generation)
            drop(lease.key)
            return [.end(LeaseIdentity(lease.key, generation: entry.granted), .takenOver)]
        }
    }

    /// The lease that others know by that generation, as its session here knows it.
    private func find(_ lease: LeaseIdentity) -> LeaseIdentity? {
        guard let entry = held[lease.key.stageID]?[lease.key.participantID], entry.generation == lease.generation else {
            return nil
        }
        return LeaseIdentity(lease.key, generation: entry.granted)
    }

    /// What was found out about a lease of this node for another one.
    package func inspected(_ question: NodeMessage.Question, _ holding: NodeMessage.Holding) -> [ClusterAction] {
        [.send(.answer(question: question.number, holding), to: question.node)]
    }
}

// MARK: - Sessions that nobody publishes to

extension NodeMachine {
    mutating func watchIdleness(of stage: String, _ now: MonotonicTime) {
        if held[stage] == nil { idle[stage] = now + settings.quotas.sessionLinger }
    }

    mutating func askForIdleness(_ now: MonotonicTime) -> [ClusterAction] {
        let due = idle.filter { now >= $0.value }.keys.sorted()
        for stage in due { idle[stage] = now + settings.cluster.renewalInterval }
        return due.map { .call(.idle(stage: $0)) }
    }

    mutating func idleness(of stage: String, _ answer: ClusterAnswer?, _ now: MonotonicTime) -> [ClusterAction] {
        guard case .idle(let idleness) = answer, idle[stage] != nil else { return [] }
        if case .wait(let rest) = idleness {
            idle[stage] = now + rest
            return []
        }
        idle[stage] = nil
        var actions: [ClusterAction] = []
        if case .ended(let session, let dropped) = idleness {
            if !dropped.isEmpty { actions.append(.closed(stage: stage, dropped)) }
            actions.append(.sessionEnded(stage: stage, sessionID: session))
        }
        if !claims.values.contains(where: { $0.key.stageID == stage }) {
            marked.remove(stage)
            actions.append(.call(.unmark(stage: stage)))
        }
        return actions
    }
}
