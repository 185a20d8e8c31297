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
        guard let claim = claims[number] else { return [] }
        if !claim.takesOver, held[claim.key.stageID]?[claim.key.participantID] != nil {
            return finish(number, [.heldHere(claim: number)], now)
        }
        if outage.isAway { return finish(number, away(number, now), now) }
        claims[number]?.expected = claim.takesOver ? lastSeen[claim.key] ?? 0 : 0
        return attempt(number, now)
    }

    /// Asks the server, once this stage is known to be one of ours: whoever sweeps after us has to find it.
    mutating func attempt(_ number: Int, _ now: MonotonicTime) -> [ClusterAction] {
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
                        grace: outage.grace(at: now), isOwnerSilent: claim.isOwnerSilent)))
        ]
    }

    mutating func marked(_ stages: [String], _ isDone: Bool, _ now: MonotonicTime) -> [ClusterAction] {
        if isDone { marked.formUnion(stages) }
        let waiting = claims.values.filter { $0.phase == .marking && stages.contains($0.key.stageID) }
        return waiting.sorted { $0.number < $1.number }.flatMap {
            isDone ? attempt($0.number, now) : finish($0.number, away($0.number, now), now)
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
        let key = arguments.key
        keep(key, arguments.set, arguments.credential, session, generation)
        var actions: [ClusterAction] = []
        if let displaced {
            // Its node tells the history itself, unless it is dead: then nobody else knows any more what it held.
            let isAlive = heard[displaced.node].map { now - $0 < Self.hearing } ?? false
            if !isAlive { actions.append(.closed(stage: key.stageID, [displaced.lease])) }
            actions.append(.send(.takenOver(LeaseIdentity(key, generation: generation)), to: displaced.node))
        }
        return finish(number, actions + [.granted(claim: number, LeaseIdentity(key, generation: generation), session)], now)
    }

    private mutating func held(
        _ number: Int, _ remote: RemoteLease, _ remaining: Duration, _ now: MonotonicTime
    ) -> [ClusterAction] {
        guard let claim = claims[number] else { return [] }
        lastSeen[claim.key] = remote.lease.generation
        claims[number]?.incumbent = remote
        // Whoever wants to take over has seen another one: the caller looks at this one before it asks again.
        if claim.takesOver { return heldElsewhere(number, remote, progress: now, now) }
        if claim.isOwnerSilent { return wait(number, min(Self.retryInterval, remaining), now) }
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
    mutating func away(_ number: Int, _ now: MonotonicTime) -> [ClusterAction] {
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

    /// The claim is answered: the next one of its participant has its turn.
    mutating func finish(_ number: Int, _ actions: [ClusterAction], _ now: MonotonicTime) -> [ClusterAction] {
        guard let claim = claims.removeValue(forKey: number) else { return actions }
        queues[claim.key]?.removeAll { $0 == number }
        guard let next = queues[claim.key]?.first else {
            queues[claim.key] = nil
            return actions
        }
        return actions + begin(next, now)
    }
}

// MARK: - The owner of a live lease

extension NodeMachine {
    /// How often, and for how long, the owner of a lease is asked for which somebody here waits.
    static let watchInterval = Duration.milliseconds(250)
    static let watchLifetime = Duration.seconds(30)

    /// A node that was heard so lately is there to say what it has lost.
    static let hearing = Duration.seconds(2)

    private mutating func ask(_ remote: RemoteLease, claim: Int?, watch: Int?, _ now: MonotonicTime) -> NodeMessage.Question {
        lastNumber += 1
        questions[lastNumber] = OpenQuestion(askedAt: now, claim: claim, watch: watch)
        return NodeMessage.Question(number: lastNumber, node: settings.nodeID, lease: remote.lease)
    }

    private mutating func heldElsewhere(
        _ number: Int, _ remote: RemoteLease, progress: MonotonicTime, _ now: MonotonicTime
    ) -> [ClusterAction] {
        lastNumber += 1
        watches[lastNumber] = Watch(remote: remote, asksAt: now + Self.watchInterval, endsAt: now + Self.watchLifetime)
        return finish(number, [.heldElsewhere(claim: number, watch: lastNumber, progress: progress)], now)
    }

    /// Nobody here waits for that lease any more.
    package mutating func watchEnded(_ watch: Int) { watches[watch] = nil }

    mutating func lookAfterWatches(_ now: MonotonicTime) -> [ClusterAction] {
        var actions: [ClusterAction] = []
        for (number, watch) in watches.inOrder where now >= watch.asksAt {
            guard now < watch.endsAt else {
                watches[number] = nil
                continue
            }
            watches[number]?.asksAt = now + Self.watchInterval
            actions.append(.send(.ask(ask(watch.remote, claim: nil, watch: number, now)), to: watch.remote.node))
        }
        return actions
    }

    mutating func unanswered(_ number: Int, _ question: OpenQuestion, _ now: MonotonicTime) -> [ClusterAction] {
        questions[number] = nil
        guard let claim = question.claim, claims[claim]?.phase == .asking(question: number) else { return [] }
        claims[claim]?.isOwnerSilent = true
        return attempt(claim, now)
    }

    mutating func answered(_ number: Int, _ holding: NodeMessage.Holding, _ now: MonotonicTime) -> [ClusterAction] {
        guard let question = questions.removeValue(forKey: number) else { return [] }
        if let watch = question.watch, let remote = watches[watch]?.remote {
            heard[remote.node] = now
            switch holding {
            // Seen from here it was then at the latest: so nothing old ever counts as new.
            case .live(let age): return [.progressed(watch: watch, question.askedAt - age)]
            case .gone: return [.gone(watch: watch)]
            }
        }
        guard let claim = question.claim, claims[claim]?.phase == .asking(question: number),
            let incumbent = claims[claim]?.incumbent
        else { return [] }
        heard[incumbent.node] = now
        switch holding {
        case .live(let age): return heldElsewhere(claim, incumbent, progress: question.askedAt - age, now)
        case .gone:
            claims[claim]?.expected = incumbent.lease.generation
            return attempt(claim, now)
        }
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

    enum Phase: Equatable {
        case new
        case marking
        case claiming
        case asking(question: Int)
        case waiting(until: MonotonicTime)
    }

    package init(number: Int, key: LeaseKey, set: String, credential: String, takesOver: Bool, isToken: Bool) {
        (self.number, self.key, self.set, self.credential) = (number, key, set, credential)
        (self.takesOver, self.isToken) = (takesOver, isToken)
    }
}
