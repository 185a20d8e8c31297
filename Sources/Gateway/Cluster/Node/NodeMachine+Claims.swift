import Settings
package import Wire

/// Asking for leases: of the server, and of the owner of a live one.
extension NodeMachine {
    package mutating func claim(_ claim: NodeClaim, _ now: MonotonicTime) -> [ClusterAction] {
        var claim = claim
        claim.patienceEnds = now + settings.cluster.claimPatience
        return claims.add(claim) ? begin(claim.number, now) : []
    }

    private mutating func begin(_ number: Int, _ now: MonotonicTime) -> [ClusterAction] {
        guard let answer = answerAtOnce(number, now) else { return attempt(number, now) }
        return finish(number, answer, now)
    }

    /// What a claim whose turn it is is told without the server; nil when that has to be asked.
    private mutating func answerAtOnce(_ number: Int, _ now: MonotonicTime) -> [ClusterAction]? {
        guard let claim = claims[number] else { return [] }
        if !claim.takesOver, held[claim.key] != nil { return [.heldHere(claim: number)] }
        if outage.isAway { return away(number, now) }
        let expected = claim.takesOver ? claims.lastSeen(by: claim.key, now) ?? 0 : 0
        claims[number]?.expected = expected
        return nil
    }

    /// Asks the server, once this stage is known to be one of ours: whoever sweeps after us has to find it.
    /// - Parameter generation: the lease whose owner is dead.
    mutating func attempt(
        _ number: Int, _ now: MonotonicTime, ofDeadOwner generation: UInt64 = 0
    ) -> [ClusterAction] {
        guard let claim = claims[number] else { return [] }
        let stage = claim.key.stageID
        guard stages.contains(stage) else {
            claims[number]?.phase = .marking
            return [.call(.mark(stages: [stage]))]
        }
        claims[number]?.phase = .claiming
        return [
            .call(
                .claim(
                    number: number,
                    ClusterCall.ClaimArguments(
                        key: claim.key, set: claim.set, credential: claim.credential, takesOver: claim.expected,
                        sessionID: sources.makeSessionID(), lowestGeneration: held.highestGeneration + 1,
                        grace: outage.grace(at: now), isOwnerSilent: claim.isOwnerSilent, ofDeadOwner: generation)))
        ]
    }

    /// A wait is over: asks again for the lease or, when its owner may be dead, for that.
    mutating func goOn(_ number: Int, _ now: MonotonicTime) -> [ClusterAction] {
        guard let inquiry = claims[number]?.inquiresAt, now >= inquiry else { return attempt(number, now) }
        return inquire(number, now)
    }

    mutating func marked(_ names: [String], _ isDone: Bool, _ now: MonotonicTime) -> [ClusterAction] {
        if isDone { stages.add(names) }
        return claims.marking(names).flatMap { isDone ? attempt($0, now) : finish($0, away($0, now), now) }
    }

    mutating func claimed(
        _ number: Int, _ arguments: ClusterCall.ClaimArguments, _ answer: ClusterAnswer.ClaimResult, _ now: MonotonicTime
    ) -> [ClusterAction] {
        switch answer {
        case .granted(let grant): return granted(number, arguments, grant, now)
        case .full: return finish(number, [.refused(claim: number, .full)], now)
        case .wait: return wait(number, NodeClaim.retryInterval, now)
        case .held(let remote, let remaining): return heldByAnother(number, remote, remaining, now)
        }
    }

    private mutating func granted(
        _ number: Int, _ arguments: ClusterCall.ClaimArguments, _ grant: ClusterAnswer.Grant, _ now: MonotonicTime
    ) -> [ClusterAction] {
        let lease = LeaseIdentity(arguments.key, generation: grant.generation)
        var actions: [ClusterAction] = []
        if let displaced = grant.displaced {
            actions = displacements.follow(
                displaced, by: lease, isHeldHere: held[lease.key] != nil, isThere: owners.hasJustAnswered(displaced.node, now),
                now)
        }
        keep(lease, arguments.set, arguments.credential, grant.session, now)
        return finish(number, actions + [.granted(claim: number, lease, grant.session)], now)
    }

    private mutating func heldByAnother(
        _ number: Int, _ remote: RemoteLease, _ remaining: Duration, _ now: MonotonicTime
    ) -> [ClusterAction] {
        guard let claim = claims[number] else { return [] }
        claims.saw(remote.lease.generation, by: claim.key, now)
        // Whoever wants to take over has seen another one: the caller looks at this one before it asks again.
        if claim.takesOver { return heldElsewhere(number, remote, progress: now, now) }
        if let pause = claim.pause(for: remote, remaining, now) { return wait(number, pause, now) }
        guard now < claim.patienceEnds else { return finish(number, [.refused(claim: number, .inUse)], now) }
        let question = owners.ask(remote, for: .claim(number), now)
        claims[number]?.asks(remote, question: question.number)
        return [.send(.ask(question), to: remote.node)]
    }

    private mutating func wait(_ number: Int, _ pause: Duration, _ now: MonotonicTime) -> [ClusterAction] {
        guard let claim = claims[number] else { return [] }
        guard now < claim.patienceEnds else {
            let isSeen = claims.lastSeen(by: claim.key, now) != nil
            return finish(number, [.refused(claim: number, isSeen ? .inUse : .away)], now)
        }
        // One millisecond more: the server's clock ticks in them.
        claims[number]?.phase = .waiting(until: now + max(pause, .milliseconds(5)) + .milliseconds(1))
        return []
    }

    /// What becomes of a claim while the server is away: refused, or admitted on its own proof.
    mutating func away(_ number: Int, _ now: MonotonicTime) -> [ClusterAction] {
        guard let claim = claims[number] else { return [] }
        let sets = held.sets(ofStage: claim.key.stageID).union([claim.set]).subtracting([""])
        guard settings.cluster.degraded == .admit, claim.isToken, sets.count <= settings.quotas.publishersPerStage else {
            return [.refused(claim: number, .away)]
        }
        let moment = sources.wallNow().millisecondsSince1970
        let lease = LeaseIdentity(claim.key, generation: held.makeGeneration(notBelow: UInt64(max(0, moment))))
        let session =
            held.session(ofStage: claim.key.stageID) ?? SharedSession(id: sources.makeSessionID(), start: moment)
        stages.add([claim.key.stageID])
        keep(lease, claim.set, claim.credential, session, now)
        return [.granted(claim: number, lease, session)]
    }

    private mutating func keep(
        _ lease: LeaseIdentity, _ set: String, _ credential: String, _ session: SharedSession, _ now: MonotonicTime
    ) {
        held.keep(lease, set: set, credential: credential, in: session)
        stages.publishBegan(on: lease.key.stageID)
        claims.forgetSeen(by: lease.key, now)
    }

    /// The claim is answered: the next one of its participant has its turn. A loop, as all of a long queue may be told at once.
    mutating func finish(_ number: Int, _ actions: [ClusterAction], _ now: MonotonicTime) -> [ClusterAction] {
        var (number, actions) = (number, actions)
        while let claim = claims.remove(number) {
            outwait(claim, now)
            guard let next = claims.first(of: claim.key) else { break }
            guard let answer = answerAtOnce(next, now) else { return actions + attempt(next, now) }
            actions += answer
            number = next
        }
        return actions
    }

    /// Its stage is marked for nothing, or for a lease and a session that only the server knows of.
    private mutating func outwait(_ claim: NodeClaim, _ now: MonotonicTime) {
        let stage = claim.key.stageID
        if stages.contains(stage), !held.contains(stage: stage) { stages.outwaitClaim(on: stage, now) }
    }
}
