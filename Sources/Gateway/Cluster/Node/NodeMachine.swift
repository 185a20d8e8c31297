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
    /// Stages that stand in this node's set.
    var marked: Set<String> = []
    /// When to ask whether a stage's session is over.
    var idle: [String: MonotonicTime] = [:]
    var lastRenewed: [String: MonotonicTime] = [:]
    /// Given back while the server was away.
    var unreleased: Set<LeaseIdentity> = []
    var burials: [String: Burial] = [:]
    var highestGeneration: UInt64 = 0
    var lastNumber = 0
    var toldRecord: String?

    var renewalAt: MonotonicTime
    var heartbeatAt: MonotonicTime
    var nodesAt: MonotonicTime

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

    struct Burial {
        var stages: Set<String>?
        var beganAt: MonotonicTime
    }

    /// - Parameter now: the moment; heartbeats begin with the connection.
    package init(settings: NodeSettings, sources: Sources, now: MonotonicTime) {
        (self.settings, self.sources) = (settings, sources)
        outage = Outage(silence: settings.cluster.silence, grace: settings.cluster.grace)
        (renewalAt, heartbeatAt, nodesAt) = (now + settings.cluster.renewalInterval, now, now)
    }

    /// When `timePassed` has something to do at the latest.
    package var deadline: MonotonicTime {
        var first = min(renewalAt, heartbeatAt)
        for claim in claims.values { if case .waiting(let until) = claim.phase { first = min(first, until) } }
        for question in questions.values { first = min(first, question.askedAt + settings.cluster.ownerPatience) }
        for watch in watches.values { first = min(first, watch.asksAt) }
        return first
    }

    package mutating func timePassed(_ now: MonotonicTime) -> [ClusterAction] {
        var actions: [ClusterAction] = []
        for (number, question) in questions.inOrder where now >= question.askedAt + settings.cluster.ownerPatience {
            actions += unanswered(number, question, now)
        }
        for (number, claim) in claims.inOrder {
            if case .waiting(let until) = claim.phase, now >= until { actions += attempt(number, now) }
        }
        actions += lookAfterWatches(now)
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

    /// What is held comes first; then what was given back meanwhile, and that we live.
    mutating func comeBack(_ now: MonotonicTime) -> [ClusterAction] {
        toldRecord = nil
        var actions: [ClusterAction] = []
        if !marked.isEmpty { actions.append(.call(.mark(stages: marked.sorted()))) }
        actions += renewAll(now)
        actions += unreleased.sorted { $0.generation < $1.generation }.map { .call(.release($0)) }
        unreleased = []
        heartbeatAt = now
        return actions + beat(now)
    }

    /// - Parameter answer: nil when there is none: whether it was carried out is then unknown.
    package mutating func answered(
        _ call: ClusterCall, _ answer: ClusterAnswer?, sentAt: MonotonicTime, _ now: MonotonicTime
    ) -> [ClusterAction] {
        let wasSilent = answer != nil && outage.answered(sentAt: sentAt, at: now)
        let actions = follow(call, answer, now)
        return wasSilent ? actions + comeBack(now) : actions
    }

    private mutating func follow(_ call: ClusterCall, _ answer: ClusterAnswer?, _ now: MonotonicTime) -> [ClusterAction] {
        switch (call, answer) {
        case (.claim(let number, let arguments), .claimed(let result)): return claimed(number, arguments, result, now)
        case (.claim(let number, _), _): return finish(number, away(number, now), now)
        case (.mark(let stages), _): return marked(stages, answer != nil, now)
        case (.renew(let stage, let leases), .renewed(let results)): return renewed(stage, leases, results, now)
        case (.release(let lease), .none): unreleased.insert(lease)
        case (.release(let lease), _): watchIdleness(of: lease.key.stageID, now)
        case (.end(let stage, _, let ending), .ended(let leases)): return tell(leases, ending, stage)
        case (.sweep(let stage, let node), .swept(let left, let dropped)): return swept(stage, node, left, dropped, now)
        case (.sweep(_, let node), _), (.stages(ofNode: let node), nil): burials[node] = nil
        case (.stages(ofNode: let node), .names(let stages)): return sweep(node, stages)
        case (.bury(let node), _): burials[node] = nil
        case (.idle(let stage), let answer): return idleness(of: stage, answer, now)
        case (.look(_, let number), .looked(let view)): return [.looked(number: number, view)]
        case (.look(_, let number), _): return [.looked(number: number, nil)]
        case (.begin(let stage, _, let number), .looked(let view)):
            // Not one of our stages, unless it was: if we die, the session goes with its keys.
            watchIdleness(of: stage, now)
            return [.looked(number: number, view)]
        case (.begin(_, _, let number), _): return [.looked(number: number, nil)]
        case (.heartbeat(let record, _), .names(let dead)):
            if record != nil { toldRecord = record }
            return bury(dead, now)
        case (.nodes, .nodes(let nodes)):
            self.nodes = nodes
            return [.nodesChanged]
        default: break
        }
        return []
    }
}

extension Dictionary where Key: Comparable {
    /// In the order of the keys: what comes of it does not depend on chance.
    var inOrder: [(key: Key, value: Value)] { isEmpty ? [] : sorted { $0.key < $1.key } }
}
