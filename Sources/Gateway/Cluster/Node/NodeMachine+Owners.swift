import Settings
import Wire

/// The owner of a lease that somebody here waits for: asked as long as it answers, and dead when the servers hear nothing of it.
extension NodeMachine {
    /// How often, and for how long, the owner of a lease is asked for which somebody here waits.
    static let watchInterval = Duration.milliseconds(250)
    static let watchLifetime = Duration.seconds(30)

    /// A node that was heard so lately is there to say what it has lost. Less than the silence after which the other half of a pair
    /// takes over, whose node may be dead; what both say counts once.
    static let hearing = Duration.milliseconds(750)

    /// So long after its next renewal a node has told the history what it has lost, or is dead.
    static let reading = Duration.seconds(1)

    mutating func tellOfDisplacements(_ now: MonotonicTime) -> [ClusterAction] {
        let due = displacements.prefix { now >= $0.toldAt }
        displacements.removeFirst(due.count)
        return due.map { .closed(stage: $0.lease.lease.key.stageID, [$0.lease]) }
    }

    mutating func ask(_ remote: RemoteLease, claim: Int?, watch: Int?, _ now: MonotonicTime) -> NodeMessage.Question {
        lastNumber += 1
        questions[lastNumber] = OpenQuestion(askedAt: now, claim: claim, watch: watch)
        return NodeMessage.Question(number: lastNumber, node: settings.nodeID, lease: remote.lease)
    }

    mutating func heldElsewhere(
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
        return inquire(claim, now)
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

// MARK: - An owner that does not answer

extension NodeMachine {
    /// Clocks tick in milliseconds, and not all alike.
    private static let tick = Duration.milliseconds(10)

    /// Asks the server when the owner was last heard of: its answers may be lost, and it may have a moment's pause.
    mutating func inquire(_ number: Int, _ now: MonotonicTime) -> [ClusterAction] {
        guard let owner = claims[number]?.incumbent?.node else { return attempt(number, now) }
        claims[number]?.phase = .inquiring
        return [.call(.heard(node: owner, number: number))]
    }

    /// - Parameter age: how long ago the owner was heard of; nil where the server does not know it.
    mutating func heardOfOwner(_ number: Int, _ age: Duration?, _ now: MonotonicTime) -> [ClusterAction] {
        guard let claim = claims[number], claim.phase == .inquiring else { return [] }
        let silence = settings.cluster.deathSilence
        let trust = outage.trust(inSilenceOf: silence)
        if let age, age >= silence, now >= trust {
            return attempt(number, now, ofDeadOwner: claim.incumbent?.lease.generation ?? 0)
        }
        let deathAt = now + max(.zero, silence - (age ?? .zero)) + Self.tick
        // It was to be dead by now, and has been heard of since: what it said to us was lost.
        let livesOn = claim.inquiresAt != nil && age.map { $0 < silence } == true
        claims[number]?.isOwnerSilent = !livesOn
        claims[number]?.inquiresAt = livesOn ? nil : max(deathAt, trust)
        return attempt(number, now)
    }
}
