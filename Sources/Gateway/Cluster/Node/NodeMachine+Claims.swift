import Settings
package import Wire

/// Asking for leases: of the server, and of the owner of a live one.
extension NodeMachine {
    /// A waiting claim asks again that often, and at the moment when the lease ends.
    static let retryInterval = Duration.seconds(1)

    package mutating func claim(_ claim: NodeClaim, _ now: MonotonicTime) -> [ClusterAction] {
        var claim = claim
        claim.patienceEnds = now + settings.cluster.claimPatience
        claims[claim.number] = claim
        queues[claim.key, default: []].append(claim.number)
        return queues[claim.key]?.count == 1 ? begin(claim.number, now) : []
    }

    private mutating func begin(_ number: Int, _ now: MonotonicTime) -> [ClusterAction] {
        guard let answer = answerAtOnce(number) else { return attempt(number, now) }
        return finish(number, answer, now)
    }

    /// What a claim whose turn it is is told without the server; nil when that has to be asked.
    private mutating func answerAtOnce(_ number: Int) -> [ClusterAction]? {
        guard let claim = claims[number] else { return [] }
        if !claim.takesOver, held[claim.key.stageID]?[claim.key.participantID] != nil { return [.heldHere(claim: number)] }
        if outage.isAway { return away(number) }
        claims[number]?.expected = claim.takesOver ? lastSeen[claim.key] ?? 0 : 0
        return nil
    }

    /// Asks the server, once this stage is known to be one of ours: whoever sweeps after us has to find it.
    /// - Parameter generation: the lease whose owner is dead.
    mutating func attempt(
        _ number: Int, _ now: MonotonicTime, ofDeadOwner generation: UInt64 = 0
    ) -> [ClusterAction] {
        guard let claim = claims[number] else { return [] }
        let stage = claim.key.stageID
        guard marked.contains(stage) else {
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
                        sessionID: sources.makeSessionID(), lowestGeneration: highestGeneration + 1,
                        grace: outage.grace(at: now), isOwnerSilent: claim.isOwnerSilent, ofDeadOwner: generation)))
        ]
    }

    /// A wait is over: asks again for the lease or, when its owner may be dead, for that.
    mutating func goOn(_ number: Int, _ now: MonotonicTime) -> [ClusterAction] {
        guard let inquiry = claims[number]?.inquiresAt, now >= inquiry else { return attempt(number, now) }
        return inquire(number, now)
    }

    mutating func marked(_ stages: [String], _ isDone: Bool, _ now: MonotonicTime) -> [ClusterAction] {
        if isDone { marked.formUnion(stages) }
        let waiting = claims.values.filter { $0.phase == .marking && stages.contains($0.key.stageID) }
        return waiting.sorted { $0.number < $1.number }.flatMap {
            isDone ? attempt($0.number, now) : finish($0.number, away($0.number), now)
        }
    }

    mutating func claimed(
        _ number: Int, _ arguments: ClusterCall.ClaimArguments, _ answer: ClusterAnswer.ClaimAnswer, _ now: MonotonicTime
    ) -> [ClusterAction] {
        switch answer {
        case .granted(let generation, let session, let displaced):
            return granted(number, arguments, generation, session, displaced, now)
        case .full: return finish(number, [.refused(claim: number, .full)], now)
        case .wait: return wait(number, Self.retryInterval, now)
        case .held(let remote, let remaining): return held(number, remote, remaining, now)
        }
    }

    private mutating func granted(
        _ number: Int, _ arguments: ClusterCall.ClaimArguments, _ generation: UInt64, _ session: SharedSession,
        _ displaced: ClusterAnswer.Displaced?, _ now: MonotonicTime
    ) -> [ClusterAction] {
        let lease = LeaseIdentity(arguments.key, generation: generation)
        let actions = displaced.map { tell($0, of: lease, now) } ?? []
        keep(lease.key, arguments.set, arguments.credential, session, generation)
        return finish(number, actions + [.granted(claim: number, lease, session)], now)
    }

    /// What follows for whose lease was there, before the history hears of the new one. Whom that one had displaced itself is closed
    /// with it: where the answer to its claim was lost, nobody knows of that.
    private mutating func tell(
        _ displaced: ClusterAnswer.Displaced, of lease: LeaseIdentity, _ now: MonotonicTime
    ) -> [ClusterAction] {
        let closed = ClusterAction.closed(stage: lease.key.stageID, [displaced.lease])
        if displaced.node == settings.nodeID {
            // A publish that is known here goes on under the new lease, and who watches was displaced by nobody.
            let isKnown = held[lease.key.stageID]?[lease.key.participantID] != nil
            return isKnown || lease.key.isAudience ? [] : [closed]
        }
        let takenOver = ClusterAction.send(.takenOver(lease), to: displaced.node)
        // Its node tells the history itself, unless it is dead: then nobody else knows any more what it held. Where it should be there
        // it is told for it later, so that receivers of events do not hear it from both.
        guard let time = heard[displaced.node], now - time < Self.hearing else { return [closed, takenOver] }
        displacements.append(Displacement(lease: displaced.lease, toldAt: now + settings.cluster.renewalInterval + Self.reading))
        return [takenOver]
    }

    private mutating func held(
        _ number: Int, _ remote: RemoteLease, _ remaining: Duration, _ now: MonotonicTime
    ) -> [ClusterAction] {
        guard let claim = claims[number] else { return [] }
        lastSeen[claim.key] = remote.lease.generation
        // Whoever wants to take over has seen another one: the caller looks at this one before it asks again.
        if claim.takesOver { return heldElsewhere(number, remote, progress: now, now) }
        if claim.isOwnerSilent, claim.incumbent == remote {
            let inquiry = claim.inquiresAt.map { $0 - now } ?? Self.retryInterval
            return wait(number, min(Self.retryInterval, remaining, inquiry), now)
        }
        guard now < claim.patienceEnds else { return finish(number, [.refused(claim: number, .inUse)], now) }
        claims[number]?.incumbent = remote
        claims[number]?.isOwnerSilent = false
        claims[number]?.inquiresAt = nil
        let question = ask(remote, claim: number, watch: nil, now)
        claims[number]?.phase = .asking(question: question.number)
        return [.send(.ask(question), to: remote.node)]
    }

    private mutating func wait(_ number: Int, _ pause: Duration, _ now: MonotonicTime) -> [ClusterAction] {
        guard let claim = claims[number] else { return [] }
        guard now < claim.patienceEnds else {
            return finish(number, [.refused(claim: number, lastSeen[claim.key] == nil ? .away : .inUse)], now)
        }
        // One millisecond more: the server's clock ticks in them.
        claims[number]?.phase = .waiting(until: now + max(pause, .milliseconds(5)) + .milliseconds(1))
        return []
    }

    /// What becomes of a claim while the server is away: refused, or admitted on its own proof.
    mutating func away(_ number: Int) -> [ClusterAction] {
        guard let claim = claims[number] else { return [] }
        let sets = Set(held[claim.key.stageID, default: [:]].values.map(\.set)).union([claim.set]).subtracting([""])
        guard settings.cluster.degraded == .admit, claim.isToken, sets.count <= settings.quotas.publishersPerStage else {
            return [.refused(claim: number, .away)]
        }
        highestGeneration = max(highestGeneration + 1, UInt64(max(0, sources.wallNow().millisecondsSince1970)))
        let known = held[claim.key.stageID]?.values.first?.session
        let session =
            known ?? SharedSession(id: sources.makeSessionID(), start: sources.wallNow().millisecondsSince1970)
        marked.insert(claim.key.stageID)
        keep(claim.key, claim.set, claim.credential, session, highestGeneration)
        return [.granted(claim: number, LeaseIdentity(claim.key, generation: highestGeneration), session)]
    }

    /// The claim is answered: the next one of its participant has its turn. A loop, as all of a long queue may be told at once.
    mutating func finish(_ number: Int, _ actions: [ClusterAction], _ now: MonotonicTime) -> [ClusterAction] {
        var (number, actions) = (number, actions)
        while let claim = claims.removeValue(forKey: number) {
            // Marked for nothing, or for a lease and a session that only the server knows of.
            let stage = claim.key.stageID
            if marked.contains(stage) { outwaitClaim(on: stage, now) }
            guard let next = leaveQueue(number, of: claim.key) else { break }
            guard let answer = answerAtOnce(next) else { return actions + attempt(next, now) }
            actions += answer
            number = next
        }
        return actions
    }

    /// Answers the first of those that stay.
    private mutating func leaveQueue(_ number: Int, of key: LeaseKey) -> Int? {
        if let place = queues[key]?.firstIndex(of: number) { queues[key]?.remove(at: place) }
        guard let next = queues[key]?.first else {
            queues[key] = nil
            return nil
        }
        return next
    }
}

/// A publish that asks for its lease.
package struct NodeClaim: Sendable {
    package var number: Int
    package var key: LeaseKey
    /// Empty for those who watch, who are no publisher.
    package var set: String
    package var credential: String
    /// The caller has seen the incumbent and may take its place (docs/design.md 7.3).
    package var takesOver: Bool
    /// Its credential is proof enough without the cluster (`ClusterSettings.degraded`).
    package var isToken: Bool

    var phase = Phase.new
    var patienceEnds = MonotonicTime.zero
    /// The generation that the claim may take over.
    var expected: UInt64 = 0
    /// Who holds it, as the server said last.
    var incumbent: RemoteLease?
    var isOwnerSilent = false
    /// When an owner that is silent may be dead at the earliest; nil before the server said when it was heard of.
    var inquiresAt: MonotonicTime?

    enum Phase: Equatable {
        case new
        case marking
        case claiming
        case asking(question: Int)
        case inquiring
        case waiting(until: MonotonicTime)
    }

    package init(number: Int, key: LeaseKey, set: String, credential: String, takesOver: Bool, isToken: Bool) {
        (self.number, self.key, self.set, self.credential) = (number, key, set, credential)
        (self.takesOver, self.isToken) = (takesOver, isToken)
    }
}
