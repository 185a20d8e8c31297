import Settings
import Wire

/// The owner of a lease that somebody here waits for: asked as long as it answers, and dead when the servers hear nothing of it.
extension NodeMachine {
    /// The claim is told of the incumbent, whose owner is asked again and again from now on.
    mutating func heldElsewhere(
        _ number: Int, _ remote: RemoteLease, progress: MonotonicTime, _ now: MonotonicTime
    ) -> [ClusterAction] {
        let watch = owners.watch(remote, now)
        return finish(number, [.heldElsewhere(claim: number, watch: watch, progress: progress)], now)
    }

    /// Nobody here waits for that lease any more.
    package mutating func watchEnded(_ watch: Int) { owners.endWatch(watch) }

    /// - Parameter number: of the question.
    mutating func ownerAnswered(_ number: Int, _ holding: NodeMessage.Holding, _ now: MonotonicTime) -> [ClusterAction] {
        guard let question = owners.takeQuestion(number) else { return [] }
        switch question.asker {
        case .watch(let watch): return owners.answered(holding, ofWatch: watch, askedAt: question.askedAt, now)
        case .claim(let claim):
            guard let incumbent = claims[claim]?.owner(askedBy: number) else { return [] }
            owners.noteAnswer(of: incumbent.node, now)
            if case .live(let age) = holding { return heldElsewhere(claim, incumbent, progress: question.askedAt - age, now) }
            claims[claim]?.expected = incumbent.lease.generation
            return attempt(claim, now)
        }
    }
}

// MARK: - An owner that does not answer

extension NodeMachine {
    /// A watch asks again in its time.
    /// - Parameter number: of the question.
    mutating func ownerIsSilent(_ number: Int, _ asker: LeaseOwners.Asker, _ now: MonotonicTime) -> [ClusterAction] {
        guard case .claim(let claim) = asker, claims[claim]?.phase == .asking(question: number) else { return [] }
        claims[claim]?.ownerIsSilent()
        return inquire(claim, now)
    }

    /// Asks the server when the owner was last heard of: its answers may be lost, and it may have a moment's pause.
    mutating func inquire(_ number: Int, _ now: MonotonicTime) -> [ClusterAction] {
        guard let owner = claims[number]?.incumbent?.node else { return attempt(number, now) }
        claims[number]?.phase = .inquiring
        return [.call(.heard(node: owner, number: number))]
    }

    /// - Parameter age: how long ago the owner was heard of; nil where the server does not know it.
    mutating func heardOfOwner(_ number: Int, _ age: Duration?, _ now: MonotonicTime) -> [ClusterAction] {
        guard claims[number]?.phase == .inquiring else { return [] }
        let silence = settings.cluster.deathSilence
        let trust = outage.trust(inSilenceOf: silence)
        let dead = claims[number]?.ownerWasHeard(age, silence: silence, trust: trust, now)
        return attempt(number, now, ofDeadOwner: dead ?? 0)
    }
}
