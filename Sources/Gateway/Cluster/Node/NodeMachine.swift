import Admission
import Refusals
import Settings
package import Wire

/// One node's leases, claims and care for other nodes (docs/design.md 7.4). Pure: no clock, no sockets, no randomness.
///
/// Every input returns what is to be done, always the same in the same order, and `deadline` says when to call `timePassed`. Only
/// what was *read* ends live media: a higher generation, or the word that it has to end. A renewal that failed never does.
package struct NodeMachine: Sendable {
    package let settings: NodeSettings
    let sources: Sources
    package internal(set) var outage: Outage
    /// By stage, then by participant.
    package internal(set) var held: [String: [String: HeldLease]] = [:]
    /// Nodes that count as alive, and their records.
    package internal(set) var nodes: [String: String] = [:]
    /// What this node tells others of itself; JSON.
    package var record = "{}"

    var claims: [Int: NodeClaim] = [:]
    /// Claims of one participant are dealt with one after the other: the first number is the one in work.
    var queues: [LeaseKey: [Int]] = [:]
    var questions: [Int: OpenQuestion] = [:]
    var watches: [Int: Watch] = [:]
    /// Which remote lease each participant's last claim was told of.
    var lastSeen: [LeaseKey: UInt64] = [:]
    /// When each node last answered.
    var heard: [String: MonotonicTime] = [:]
    /// What was taken over of nodes that were heard a moment before, in the order in which it is told.
    var displacements: [Displacement] = []
    /// Stages that stand in this node's set.
    var marked: Set<String> = []
    var idle: [String: IdleStage] = [:]
    /// The stages that the process before this one left in this node's set are among those above.
    var hasTakenUp = false
    private var lastRenewed: [String: MonotonicTime] = [:]
    /// Given back while the server was away, or without its answer.
    private var unreleased: Set<LeaseIdentity> = []
    private var burials: [String: Burial] = [:]
    var highestGeneration: UInt64 = 0
    var lastNumber = 0
    private var toldRecord: String?
    /// When the heartbeat was sent that the server took last.
    private var writtenAt: MonotonicTime?
    /// The server heard nothing for longer than heartbeats live: others may have deleted this node's stages.
    private var mayBeBuried = false

    private var renewalAt: MonotonicTime
    private var heartbeatAt: MonotonicTime
    private var nodesAt: MonotonicTime

    /// What is not the machine's own to know.
    package struct Sources: Sendable {
        package var makeSessionID: @Sendable () -> String
        package var wallNow: @Sendable () -> WallTime

        package init(makeSessionID: @escaping @Sendable () -> String, wallNow: @escaping @Sendable () -> WallTime) {
            (self.makeSessionID, self.wallNow) = (makeSessionID, wallNow)
        }
    }

    /// A lease of this node.
    package struct HeldLease: Sendable {
        package var set: String
        package var credential: String
        package var session: SharedSession
        /// As its session was granted it.
        package var granted: UInt64
        /// As the server knows it: higher than `granted` once it was revived.
        package var generation: UInt64
    }

    struct OpenQuestion {
        var askedAt: MonotonicTime
        var claim: Int?
        var watch: Int?
    }

    /// A lease elsewhere, for whose end somebody here waits.
    struct Watch {
        var remote: RemoteLease
        var asksAt: MonotonicTime
        var endsAt: MonotonicTime
    }

    /// A lease of another node that was taken over.
    struct Displacement {
        var lease: EndedLease
        /// When the history is told that it is over.
        var toldAt: MonotonicTime
    }

    /// A stage on which nobody publishes through this node.
    struct IdleStage {
        /// When to ask whether its session is over.
        var asksAt: MonotonicTime
        /// The session of whose end the history was told; the server may not know so yet.
        var told: String?
    }

    private struct Burial {
        var stages: Set<String>?
        /// Leases of which the history was told.
        var told: Set<LeaseIdentity> = []
        var beganAt: MonotonicTime
    }

    /// - Parameter now: the moment; heartbeats begin with the connection.
    package init(settings: NodeSettings, sources: Sources, now: MonotonicTime) {
        (self.settings, self.sources) = (settings, sources)
        outage = Outage(
            silence: settings.cluster.silence, grace: settings.cluster.grace, interval: settings.cluster.heartbeatInterval)
        (renewalAt, heartbeatAt, nodesAt) = (now + settings.cluster.renewalInterval, now, now)
    }

    /// When `timePassed` has something to do at the latest.
    package var deadline: MonotonicTime {
        var first = min(renewalAt, heartbeatAt)
        for claim in claims.values { if case .waiting(let until) = claim.phase { first = min(first, until) } }
        for question in questions.values { first = min(first, question.askedAt + settings.cluster.ownerPatience) }
        for watch in watches.values { first = min(first, watch.asksAt) }
        if let displacement = displacements.first { first = min(first, displacement.toldAt) }
        return first
    }

    package mutating func timePassed(_ now: MonotonicTime) -> [ClusterAction] {
        var actions: [ClusterAction] = []
        for (number, question) in questions.inOrder where now >= question.askedAt + settings.cluster.ownerPatience {
            actions += unanswered(number, question, now)
        }
        for (number, claim) in claims.inOrder {
            if case .waiting(let until) = claim.phase, now >= until { actions += goOn(number, now) }
        }
        actions += lookAfterWatches(now) + tellOfDisplacements(now)
        if now >= renewalAt { actions += renewAll(now) }
        if now >= heartbeatAt { actions += beat(now) }
        return actions
    }

    /// - Parameter runID: which process of the server answers; nil where that is not known.
    package mutating func connected(runID: String?, _ now: MonotonicTime) -> [ClusterAction] {
        outage.connected(runID: runID, at: now)
        return comeBack(now)
    }

    package mutating func disconnected() { outage.disconnected() }

    /// What is held comes first, with what was given back meanwhile; then that we live.
    private mutating func comeBack(_ now: MonotonicTime) -> [ClusterAction] {
        toldRecord = nil
        var actions: [ClusterAction] = []
        if !marked.isEmpty { actions.append(.call(.mark(stages: marked.sorted()))) }
        actions += renewAll(now)
        heartbeatAt = now
        actions += beat(now)
        return hasTakenUp ? actions : actions + [.call(.stages(ofNode: settings.nodeID))]
    }

    /// - Parameter answer: nil when there is none: whether it was carried out is then unknown.
    package mutating func answered(
        _ call: ClusterCall, _ answer: ClusterAnswer?, sentAt: MonotonicTime, _ now: MonotonicTime
    ) -> [ClusterAction] {
        switch call {
        case .heartbeat, .heard: outage.heartbeatAnswered(sentAt: answer == nil ? nil : sentAt, at: now)
        default: break
        }
        var isBack = answer != nil && outage.answered(sentAt: sentAt, at: now)
        if case .heartbeat = call {
            if outage.heartbeatWritten(answer != nil, at: now) { isBack = true }
            if answer != nil { noteHeartbeat(sentAt: sentAt, now) }
        }
        let actions = follow(call, answer, now)
        return isBack ? actions + comeBack(now) : actions
    }

    private mutating func follow(_ call: ClusterCall, _ answer: ClusterAnswer?, _ now: MonotonicTime) -> [ClusterAction] {
        switch (call, answer) {
        case (.claim(let number, let arguments), .claimed(let result)): return claimed(number, arguments, result, now)
        case (.heard(_, let number), .heard(let age)): return heardOfOwner(number, age, now)
        case (.claim(let number, _), _), (.heard(_, let number), _): return finish(number, away(number), now)
        case (.mark(let stages), _): return marked(stages, answer != nil, now)
        case (.renew(let stage, let leases), .renewed(let results)): return renewed(stage, leases, results, now)
        case (.release(let lease), .none): unreleased.insert(lease)
        case (.release(let lease), _): watchIdleness(of: lease.key.stageID, now)
        case (.end(_, _, let ending), .ended(let leases)): return tell(leases, ending)
        case (.sweep(let stage, let node, _), .swept(let left, let ended)): return swept(stage, node, left, ended, now)
        case (.sweep(_, let node, _), _), (.stages(ofNode: let node), nil): burials[node] = nil
        case (.stages(ofNode: settings.nodeID), .names(let stages)): takeUp(stages, now)
        case (.stages(ofNode: let node), .names(let stages)): return sweep(node, stages)
        case (.bury(let node), let answer): return buried(node, answer)
        case (.idle(let stage, _), let answer): return idleness(of: stage, answer, now)
        case (.look(_, let number), .looked(let view)): return [.looked(number: number, view)]
        case (.look(_, let number), _): return [.looked(number: number, nil)]
        case (.begin(let stage, _, let number), let answer): return begun(stage, number, answer, now)
        case (.heartbeat(let record, _), .names(let dead)):
            if record != nil { toldRecord = record }
            return bury(dead, now)
        case (.nodes, .nodes(let nodes)): return see(nodes)
        default: break
        }
        return []
    }

    private mutating func begun(
        _ stage: String, _ number: Int, _ answer: ClusterAnswer?, _ now: MonotonicTime
    ) -> [ClusterAction] {
        guard case .looked(let view) = answer else { return [.looked(number: number, nil)] }
        // Not one of our stages, unless it was: if we die, the session goes with its keys.
        watchIdleness(of: stage, now)
        return [.looked(number: number, view)]
    }
}

extension Dictionary where Key: Comparable {
    /// In the order of the keys: what comes of it does not depend on chance.
    var inOrder: [(key: Key, value: Value)] { isEmpty ? [] : sorted { $0.key < $1.key } }
}

/// Keeping leases, giving them back, and losing them by what was read.
extension NodeMachine {
    /// What others said was perhaps not heard: it stands in the records.
    package mutating func renewNow(_ now: MonotonicTime) -> [ClusterAction] { renewAll(now) }

    private mutating func renewAll(_ now: MonotonicTime) -> [ClusterAction] {
        renewalAt = now + settings.cluster.renewalInterval
        guard !outage.isAway else { return [] }
        let renewals: [ClusterAction] = held.inOrder.map { stage, leases in
            .call(
                .renew(
                    stage: stage,
                    leases.inOrder.map { participant, lease in
                        ClusterCall.RenewedLease(
                            participantID: participant, generation: lease.generation, set: lease.set,
                            credential: lease.credential, session: lease.session)
                    }))
        }
        let releases = unreleased.sorted { $0.generation < $1.generation }.map { ClusterAction.call(.release($0)) }
        unreleased = []
        return renewals + releases
    }

    private mutating func renewed(
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
        case .end(let ending): return [.end(lease, LeaseEnd(ending))]
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

    /// A claim was granted.
    mutating func keep(
        _ key: LeaseKey, _ set: String, _ credential: String, _ session: SharedSession, _ generation: UInt64
    ) {
        highestGeneration = max(highestGeneration, generation)
        idle[key.stageID] = nil
        lastSeen[key] = nil
        held[key.stageID, default: [:]][key.participantID] = HeldLease(
            set: set, credential: credential, session: session, granted: generation, generation: generation)
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
                LeaseIdentity(LeaseKey(stageID: stage, participantID: name), generation: lease.granted), LeaseEnd(ending))
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

    private func tell(_ leases: [RemoteLease], _ ending: LeaseEnding) -> [ClusterAction] {
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
            return [.end(lease, LeaseEnd(ending))]
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

/// That this node lives, which others do, and what is left of those that have died.
extension NodeMachine {
    /// A burial that is stuck begins anew.
    static let burialPatience = Duration.seconds(10)

    /// The more nodes there are, the older the list of them may be: reading it costs all of them alike.
    var nodesInterval: Duration { max(.seconds(3), .milliseconds(Int64(nodes.count) * 50)) }

    private mutating func beat(_ now: MonotonicTime) -> [ClusterAction] {
        heartbeatAt = now + settings.cluster.heartbeatInterval
        guard !outage.isAway else { return [] }
        let news = record == toldRecord ? nil : record
        var actions: [ClusterAction] = [.call(.heartbeat(record: news, buries: outage.grace(at: now) == .none))]
        if now >= nodesAt {
            nodesAt = now + nodesInterval
            actions.append(.call(.nodes))
        }
        for (node, burial) in burials.inOrder {
            actions += (burial.stages ?? []).sorted().map { sweep($0, of: node, burial.told) }
        }
        return actions + askForIdleness(now)
    }

    private mutating func bury(_ dead: [String], _ now: MonotonicTime) -> [ClusterAction] {
        dead.flatMap { node -> [ClusterAction] in
            if let burial = burials[node], now - burial.beganAt < Self.burialPatience { return [] }
            burials[node] = Burial(beganAt: now)
            return [.call(.stages(ofNode: node))]
        }
    }

    private mutating func sweep(_ node: String, _ stages: [String]) -> [ClusterAction] {
        guard burials[node] != nil else { return [] }
        burials[node]?.stages = Set(stages)
        if stages.isEmpty { return [.call(.bury(node: node))] }
        // Ours from now on: the end of its session is for us to see.
        return [.call(.mark(stages: stages.sorted()))] + stages.sorted().map { sweep($0, of: node, []) }
    }

    private func sweep(_ stage: String, of node: String, _ told: Set<LeaseIdentity>) -> ClusterAction {
        let told = told.filter { $0.key.stageID == stage }.sorted { $0.generation < $1.generation }
        return .call(.sweep(stage: stage, node: node, told: told))
    }

    private mutating func swept(
        _ stage: String, _ node: String, _ left: Int, _ ended: [EndedLease], _ now: MonotonicTime
    ) -> [ClusterAction] {
        var actions: [ClusterAction] = []
        let news = ended.filter { burials[node]?.told.contains($0.lease) != true }
        if !news.isEmpty {
            burials[node]?.told.formUnion(news.map(\.lease))
            // They stay there until they are known to be told.
            actions += [.closed(stage: stage, news), sweep(stage, of: node, Set(news.map(\.lease)))]
        }
        watchIdleness(of: stage, now)
        guard left == 0, burials[node]?.stages?.remove(stage) != nil, burials[node]?.stages?.isEmpty == true else {
            return actions
        }
        return actions + [.call(.bury(node: node))]
    }

    /// Its set of stages goes after it, because one that has come back needs it.
    private mutating func buried(_ node: String, _ answer: ClusterAnswer?) -> [ClusterAction] {
        burials[node] = nil
        return answer == .buried(true) ? [.call(.forgetStages(ofNode: node))] : []
    }

    private mutating func noteHeartbeat(sentAt: MonotonicTime, _ now: MonotonicTime) {
        if let last = writtenAt, now - last > settings.cluster.heartbeatLifetime { mayBeBuried = true }
        writtenAt = sentAt
    }

    /// Who counts as alive needs no burial. Where this node may have been buried it tells everything again: it has no record, or was
    /// silent for so long. A record alone says nothing, as the first heartbeat after that brings one.
    private mutating func see(_ nodes: [String: String]) -> [ClusterAction] {
        self.nodes = nodes
        for node in nodes.keys { burials[node] = nil }
        guard mayBeBuried || nodes[settings.nodeID, default: ""].isEmpty else { return [.nodesChanged] }
        (mayBeBuried, toldRecord) = (false, nil)
        return marked.isEmpty ? [.nodesChanged] : [.nodesChanged, .call(.mark(stages: marked.sorted()))]
    }
}
