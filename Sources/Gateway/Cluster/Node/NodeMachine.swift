import Admission
import Refusals
import Settings
import Wire

/// One node's leases, claims and care for other nodes (docs/design.md 7.4). Pure: no clock, no sockets, no randomness.
///
/// Every input returns what is to be done: the same inputs give the same actions in the same order. `deadline` says when to call
/// `timePassed`. Only what was *read* ends live media: a higher generation, or the word that it has to end. A renewal that failed
/// never does.
struct NodeMachine: Sendable {
    let settings: NodeSettings
    private(set) var outage: Outage

    private let environment: Environment
    private var held = HeldLeases()
    private var claims = NodeClaims()
    private var owners: LeaseOwners
    private var displacements: Displacements
    private var stages: OwnStages
    private var burials = Burials()
    private var heartbeat: Heartbeat
    private var renewalAt: MonotonicTime

    /// What a value cannot know of itself: chance, and the date.
    struct Environment: Sendable {
        /// A new stage session's id, of which no two are alike.
        var makeSessionID: @Sendable () -> String
        var wallNow: @Sendable () -> WallTime
    }

    /// - Parameter now: the moment; heartbeats begin with the connection.
    init(settings: NodeSettings, environment: Environment, now: MonotonicTime) {
        (self.settings, self.environment) = (settings, environment)
        outage = Outage(
            silence: settings.cluster.silence, grace: settings.cluster.grace, interval: settings.cluster.heartbeatInterval)
        (owners, displacements) = (LeaseOwners(askedBy: settings), Displacements(settings))
        (stages, heartbeat) = (OwnStages(settings), Heartbeat(of: settings, now: now))
        renewalAt = now + settings.cluster.renewalInterval
    }

    /// What this node tells others of itself; JSON.
    var record: String {
        get { heartbeat.record }
        set { heartbeat.record = newValue }
    }

    /// Nodes that count as alive, and their records.
    var nodes: [String: String] { heartbeat.nodes }

    /// Whether another process lives under this node's name.
    var hasRival: Bool { heartbeat.hasRival }

    /// Whether a lease of the stage is held here.
    func holds(stage: String) -> Bool { held.contains(stage: stage) }

    // MARK: - Time

    /// When `timePassed` has something to do at the latest.
    var deadline: MonotonicTime {
        let waits = [claims.deadline, owners.deadline, displacements.deadline]
        return waits.reduce(min(renewalAt, heartbeat.dueAt)) { first, wait in min(first, wait ?? first) }
    }

    /// To be called at `deadline`; earlier it does no harm.
    mutating func timePassed(_ now: MonotonicTime) -> [ClusterAction] {
        var actions: [ClusterAction] = []
        for question in owners.takeUnanswered(now) { actions += ownerIsSilent(question.number, question.asker, now) }
        for claim in claims.due(now) { actions += goOn(claim, now) }
        actions += owners.askForWatches(now) + displacements.tellDue(now)
        if now >= renewalAt { actions += renewAll(now) }
        if now >= heartbeat.dueAt { actions += beat(now) }
        return actions
    }

    private mutating func beat(_ now: MonotonicTime) -> [ClusterAction] {
        heartbeat.scheduleNext(now)
        guard !outage.isAway else { return [] }
        return heartbeat.beat(buries: outage.grace(at: now) == .none, now) + burials.sweepsAgain + stages.askForEnds(now)
    }

    // MARK: - The server

    /// - Parameter runID: which process of the server answers; nil where that is not known.
    mutating func connected(runID: String?, _ now: MonotonicTime) -> [ClusterAction] {
        outage.connected(runID: runID, at: now)
        return comeBack(now)
    }

    /// The server is away: until `connected` claims are answered without it.
    mutating func disconnected() { outage.disconnected() }

    /// What is held comes first, with what was given back meanwhile; then that we live.
    private mutating func comeBack(_ now: MonotonicTime) -> [ClusterAction] {
        heartbeat.forgetTold()
        let actions = stages.marks + renewAll(now) + beat(now)
        return stages.hasTakenUp ? actions : actions + [.call(.stages(ofNode: settings.nodeID))]
    }

    /// - Parameter answer: nil when there is none: whether it was carried out is then unknown.
    mutating func answered(
        _ call: ClusterCall, _ answer: ClusterAnswer?, sentAt: MonotonicTime, _ now: MonotonicTime
    ) -> [ClusterAction] {
        let isBack = noteAnswer(to: call, isThere: answer != nil, sentAt: sentAt, now)
        let actions = follow(call, answer, now)
        return isBack ? actions + comeBack(now) : actions
    }

    /// - Returns: whether this ends a silence of the server.
    private mutating func noteAnswer(
        to call: ClusterCall, isThere: Bool, sentAt: MonotonicTime, _ now: MonotonicTime
    ) -> Bool {
        switch call {
        case .heartbeat, .heard: outage.heartbeatAnswered(sentAt: isThere ? sentAt : nil, at: now)
        default: break
        }
        let endsSilence = isThere && outage.answered(sentAt: sentAt, at: now)
        guard case .heartbeat(let record, _) = call else { return endsSilence }
        if isThere { heartbeat.written(record, sentAt: sentAt, now) }
        return outage.heartbeatWritten(isThere, at: now) || endsSilence
    }

    private mutating func follow(_ call: ClusterCall, _ answer: ClusterAnswer?, _ now: MonotonicTime) -> [ClusterAction] {
        switch (call, answer) {
        case (.claim(let number, let arguments), .claimed(let result)): return claimed(number, arguments, result, now)
        case (.heard(_, let number), .heard(let age)): return heardOfOwner(number, age, now)
        case (.claim(let number, _), _), (.heard(_, let number), _): return finish(number, away(number, now), now)
        case (.mark(let stages), _): return marked(stages, answer != nil, now)
        case (.renew(let stage, let leases), .renewed(let results)): return renewed(stage, leases, results, now)
        case (.release(let lease), .none): held.releaseLater(lease)
        case (.release(let lease), _): awaitEnd(on: lease.key.stageID, now)
        case (.end(_, _, let ending), .ended(let leases)): return passOn(ending, to: leases)
        case (.sweep(let stage, let node, _), .swept(let left, let ended)):
            awaitEnd(on: stage, now)
            return burials.swept(stage, of: node, left: left, ended)
        case (.sweep(_, let node, _), _), (.stages(ofNode: let node), nil): burials.end(node)
        case (.stages(ofNode: settings.nodeID), .names(let names)): takeUp(names, now)
        case (.stages(ofNode: let node), .names(let names)): return burials.found(names, of: node)
        case (.bury(let node), _): return burials.buried(node, isForgotten: answer == .buried(true))
        case (.idle(let stage, _), .idle(let idleness)):
            return stages.answered(stage, idleness, isClaimed: claims.contains(stage:), now)
        case (.look(_, let number), .looked(let view)): return [.looked(number: number, view)]
        case (.look(_, let number), _): return [.looked(number: number, nil)]
        case (.begin(let stage, _, let number), _): return begun(stage, number, answer, now)
        case (.heartbeat, .names(let dead)): return burials.begin(dead, now)
        case (.nodes, .nodes(let nodes)): return see(nodes, now)
        default: break
        }
        return []
    }

    /// Who counts as alive needs no burial. While the servers were silent nobody could tell them that it lives.
    private mutating func see(_ nodes: [String: String], _ now: MonotonicTime) -> [ClusterAction] {
        for node in nodes.keys { burials.end(node) }
        let hasToTellAgain = heartbeat.see(nodes, isWhole: outage.grace(at: now) == .none)
        return [.nodesChanged] + (hasToTellAgain ? stages.marks : [])
    }
}

/// Keeping leases, giving them back, and losing them by what was read.
extension NodeMachine {
    /// What other nodes said may have been missed: a renewal reads it in the records.
    mutating func renewNow(_ now: MonotonicTime) -> [ClusterAction] { renewAll(now) }

    private mutating func renewAll(_ now: MonotonicTime) -> [ClusterAction] {
        renewalAt = now + settings.cluster.renewalInterval
        guard !outage.isAway else { return [] }
        let releases = held.takeUnreleased().map { ClusterCall.release($0) }
        return (held.renewals + releases).map { ClusterAction.call($0) }
    }

    private mutating func renewed(
        _ stage: String, _ leases: [ClusterCall.RenewedLease], _ results: [ClusterAnswer.Renewal], _ now: MonotonicTime
    ) -> [ClusterAction] {
        if let pause = held.renewed(stage: stage, at: now), pause > settings.cluster.leaseLifetime {
            outage.begin(.expired, at: now)
        }
        return losing(on: stage, now) { $0.follow(results, of: leases, onStage: stage) }
    }

    /// Where all leases of a stage are lost, it is seen to as where they are given back.
    private mutating func losing(
        on stage: String, _ now: MonotonicTime, _ body: (inout HeldLeases) -> [ClusterAction]
    ) -> [ClusterAction] {
        guard held.contains(stage: stage) else { return [] }
        let actions = body(&held)
        awaitEnd(on: stage, now)
        return actions
    }

    /// Gives a lease back; another one of the same participant stays.
    mutating func release(_ lease: LeaseIdentity) -> [ClusterAction] {
        guard let known = held.release(lease) else { return [] }
        if outage.isAway {
            held.releaseLater(known)
            return []
        }
        return [.call(.release(known))]
    }

    /// Gives back whatever lease of the participant is held here; nothing where there is none.
    mutating func releaseHeld(_ key: LeaseKey) -> [ClusterAction] {
        guard let entry = held[key] else { return [] }
        return release(LeaseIdentity(key, generation: entry.granted))
    }

    /// Ends a participant's publish, or all of a stage, wherever they live.
    mutating func end(stage: String, participant: String?, _ ending: LeaseEnding) -> [ClusterAction] {
        let ends = held.asGranted(ofStage: stage, participant: participant).map { ClusterAction.end($0, LeaseEnd(ending)) }
        return ends + [.call(.end(stage: stage, participant: participant, ending))]
    }

    /// Tells the other nodes that hold leases, as the server names them.
    private func passOn(_ ending: LeaseEnding, to leases: [RemoteLease]) -> [ClusterAction] {
        leases.filter { $0.node != settings.nodeID }.map { .send(.end($0.lease, ending), to: $0.node) }
    }
}

/// Asking for leases: of the server, and of the owner of a live one.
extension NodeMachine {
    /// A publish, or those who watch, ask for a lease. Now or later exactly one of `granted`, `heldHere`, `heldElsewhere` and
    /// `refused` follows, with the claim's number.
    mutating func claim(_ claim: NodeClaim, _ now: MonotonicTime) -> [ClusterAction] {
        var claim = claim
        claim.patienceEnds = now + settings.cluster.claimPatience
        return claims.add(claim) ? begin(claim.number, now) : []
    }

    private mutating func begin(_ number: Int, _ now: MonotonicTime) -> [ClusterAction] {
        guard let answer = answerAtOnce(number, now) else { return attempt(number, now) }
        return finish(number, answer, now)
    }

    /// What a claim is told when its turn comes, without the server; nil when the server has to be asked.
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
    private mutating func attempt(
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
                        sessionID: environment.makeSessionID(), lowestGeneration: held.highestGeneration + 1,
                        grace: outage.grace(at: now), isOwnerSilent: claim.isOwnerSilent, ofDeadOwner: generation)))
        ]
    }

    /// A wait is over: asks for the lease again or, if its owner may be dead, whether it is.
    private mutating func goOn(_ number: Int, _ now: MonotonicTime) -> [ClusterAction] {
        guard let inquiry = claims[number]?.inquiresAt, now >= inquiry else { return attempt(number, now) }
        return inquire(number, now)
    }

    private mutating func marked(_ names: [String], _ isDone: Bool, _ now: MonotonicTime) -> [ClusterAction] {
        if isDone { stages.add(names) }
        return claims.marking(names).flatMap { isDone ? attempt($0, now) : finish($0, away($0, now), now) }
    }

    private mutating func claimed(
        _ number: Int, _ arguments: ClusterCall.ClaimArguments, _ answer: ClusterAnswer.ClaimResult, _ now: MonotonicTime
    ) -> [ClusterAction] {
        switch answer {
        case .granted(let answered): return granted(number, arguments, answered, now)
        case .full: return finish(number, [.refused(claim: number, .full)], now)
        case .wait: return wait(number, NodeClaim.retryInterval, now)
        case .held(let remote, let remaining): return heldByAnother(number, remote, remaining, now)
        }
    }

    private mutating func granted(
        _ number: Int, _ arguments: ClusterCall.ClaimArguments, _ answered: ClusterAnswer.GrantedLease, _ now: MonotonicTime
    ) -> [ClusterAction] {
        let lease = LeaseIdentity(arguments.key, generation: answered.generation)
        var actions: [ClusterAction] = []
        if let displaced = answered.displaced {
            actions = displacements.follow(
                displaced, by: lease, isHeldHere: held[lease.key] != nil, isThere: owners.hasJustAnswered(displaced.node, now),
                now)
        }
        keep(lease, set: arguments.set, credential: arguments.credential, in: answered.session, now)
        return finish(number, actions + [.granted(claim: number, lease, answered.session)], now)
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
    private mutating func away(_ number: Int, _ now: MonotonicTime) -> [ClusterAction] {
        guard let claim = claims[number] else { return [] }
        let sets = held.sets(ofStage: claim.key.stageID).union([claim.set]).subtracting([""])
        guard settings.cluster.degraded == .admit, claim.isToken, sets.count <= settings.quotas.publishersPerStage else {
            return [.refused(claim: number, .away)]
        }
        let moment = environment.wallNow().millisecondsSince1970
        let lease = LeaseIdentity(claim.key, generation: held.makeGeneration(notBelow: UInt64(max(0, moment))))
        let session = held.session(ofStage: claim.key.stageID) ?? beginAlone(on: claim.key.stageID, at: moment)
        stages.add([claim.key.stageID])
        keep(lease, set: claim.set, credential: claim.credential, in: session, now)
        return [.granted(claim: number, lease, session)]
    }

    private mutating func beginAlone(on stage: String, at moment: Int64) -> SharedSession {
        let session = SharedSession(id: environment.makeSessionID(), start: moment)
        stages.beganAlone(session.id, on: stage)
        return session
    }

    private mutating func keep(
        _ lease: LeaseIdentity, set: String, credential: String, in session: SharedSession, _ now: MonotonicTime
    ) {
        held.keep(lease, set: set, credential: credential, in: session)
        stages.publishBegan(on: lease.key.stageID)
        claims.forgetSeen(by: lease.key, now)
    }

    /// The claim is answered, and it is the turn of its participant's next one. A loop: a long queue may be answered at once.
    private mutating func finish(_ number: Int, _ actions: [ClusterAction], _ now: MonotonicTime) -> [ClusterAction] {
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

    /// Its stage may be marked in vain, or for a lease and a session that only the server knows of.
    private mutating func outwait(_ claim: NodeClaim, _ now: MonotonicTime) {
        let stage = claim.key.stageID
        if stages.contains(stage), !held.contains(stage: stage) { stages.outwaitClaim(on: stage, now) }
    }
}

/// The owner of a lease that somebody here waits for: asked as long as it answers, and dead when the servers hear nothing of it.
extension NodeMachine {
    /// The claim is told of the incumbent, whose owner is asked again and again from now on.
    private mutating func heldElsewhere(
        _ number: Int, _ remote: RemoteLease, progress: MonotonicTime, _ now: MonotonicTime
    ) -> [ClusterAction] {
        let watch = owners.watch(remote, now)
        return finish(number, [.heldElsewhere(claim: number, watch: watch, progress: progress)], now)
    }

    /// Nobody here waits for that lease any more.
    mutating func watchEnded(_ watch: Int) { owners.endWatch(watch) }

    /// - Parameter number: of the question.
    private mutating func ownerAnswered(_ number: Int, _ holding: NodeMessage.Holding, _ now: MonotonicTime) -> [ClusterAction] {
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

    // MARK: - An owner that does not answer

    /// A watch asks again in its time.
    /// - Parameter number: of the question.
    private mutating func ownerIsSilent(_ number: Int, _ asker: LeaseOwners.Asker, _ now: MonotonicTime) -> [ClusterAction] {
        guard case .claim(let claim) = asker, claims[claim]?.phase == .asking(question: number) else { return [] }
        claims[claim]?.ownerIsSilent()
        return inquire(claim, now)
    }

    /// Asks the server when the owner was last heard of: its answers may be lost, and it may have a moment's pause.
    private mutating func inquire(_ number: Int, _ now: MonotonicTime) -> [ClusterAction] {
        guard let owner = claims[number]?.incumbent?.node else { return attempt(number, now) }
        claims[number]?.phase = .inquiring
        return [.call(.heard(node: owner, number: number))]
    }

    /// - Parameter age: how long ago the owner was heard of; nil where the server does not know it.
    private mutating func heardOfOwner(_ number: Int, _ age: Duration?, _ now: MonotonicTime) -> [ClusterAction] {
        guard claims[number]?.phase == .inquiring else { return [] }
        let silence = settings.cluster.deathSilence
        let trust = outage.trust(inSilenceOf: silence)
        let dead = claims[number]?.ownerWasHeard(age, silence: silence, trust: trust, now)
        return attempt(number, now, ofDeadOwner: dead ?? 0)
    }
}

/// The stages that are this node's to see to, and what is asked about any.
extension NodeMachine {
    /// Where nobody publishes through this node the end of the session is waited for.
    private mutating func awaitEnd(on stage: String, _ now: MonotonicTime) {
        if !held.contains(stage: stage) { stages.awaitEnd(on: stage, now) }
    }

    private mutating func takeUp(_ names: [String], _ now: MonotonicTime) {
        stages.takeUp(names, deserted: names.filter { !held.contains(stage: $0) }, now)
    }

    /// The history has just learnt of the session. Should the server not hear so, or forget it, the renewals say it again.
    mutating func announce(_ session: String, ofStage stage: String) -> [ClusterAction] {
        held.noteRecorded(session, ofStage: stage)
        return [.call(.announce(stage: stage, sessionID: session))]
    }

    /// What is known of a stage, beginning a session where one is needed.
    mutating func look(at stage: String, number: Int, begins: Bool) -> [ClusterAction] {
        if outage.isAway { return [.looked(number: number, nil)] }
        guard begins else { return [.call(.look(stage: stage, number: number))] }
        return [.call(.begin(stage: stage, sessionID: environment.makeSessionID(), number: number))]
    }

    private mutating func begun(
        _ stage: String, _ number: Int, _ answer: ClusterAnswer?, _ now: MonotonicTime
    ) -> [ClusterAction] {
        guard case .looked(let view) = answer else { return [.looked(number: number, nil)] }
        // Not one of our stages, unless it was: if we die, the session goes with its keys.
        awaitEnd(on: stage, now)
        return [.looked(number: number, view)]
    }
}

/// What other nodes say.
extension NodeMachine {
    /// Another node's message; one about a lease that is not held here ends nothing.
    mutating func received(_ message: NodeMessage, _ now: MonotonicTime) -> [ClusterAction] {
        switch message {
        case .ask(let question):
            guard let lease = held.asGranted(question.lease) else {
                return [.send(.answer(question: question.number, .gone), to: question.node)]
            }
            var known = question
            known.lease = lease
            return [.inspect(known)]
        case .answer(let number, let holding): return ownerAnswered(number, holding, now)
        case .end(let lease, let ending):
            guard let lease = held.asGranted(lease) else { return [] }
            return [.end(lease, LeaseEnd(ending))]
        case .takenOver(let lease): return losing(on: lease.key.stageID, now) { $0.takenOver(by: lease) }
        }
    }

    /// What was found out about a lease of this node for another one.
    func inspected(_ question: NodeMessage.Question, _ holding: NodeMessage.Holding) -> [ClusterAction] {
        [.send(.answer(question: question.number, holding), to: question.node)]
    }
}

extension Dictionary where Key: Comparable {
    /// In the order of the keys: what comes of it does not depend on chance.
    var inOrder: [(key: Key, value: Value)] { isEmpty ? [] : sorted { $0.key < $1.key } }
}
