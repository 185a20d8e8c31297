import Settings
import TestSupport

@testable import Cluster

/// Calls as three nodes make them, with leases that they were granted, and with ones that they only think they have.
struct RandomCalls {
    private var random: SplitMix64
    private let nodes: [NodeSettings]
    private var granted: [RemoteLease: ClusterCall.RenewedLease] = [:]
    private(set) var kinds: Set<String> = []
    /// What was answered, by its name.
    private(set) var outcomes: [String: Int] = [:]
    private var sessions = 0
    /// The session of which one was told last that it has ended.
    private var lastOver: String?

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
        nodes = ["a", "b", "c"].map { name in
            var settings = NodeSettings(nodeID: name)
            (settings.cluster.leaseLifetime, settings.cluster.heartbeatLifetime) = (.milliseconds(300), .milliseconds(300))
            (settings.quotas.sessionLinger, settings.quotas.publishersPerStage) = (.milliseconds(200), 3)
            return settings
        }
    }

    /// Milliseconds until the next call; now and then so long that everything has expired.
    mutating func pause() -> Int64 { chance(of: 15) ? 700 : Int64.random(in: 0...40, using: &random) }

    mutating func next(_ number: Int) -> (ClusterCall, NodeSettings) {
        let settings = pick(nodes)
        let call = call(number, settings)
        kinds.insert(String("\(call)".prefix { $0 != "(" }))
        return (call, settings)
    }

    mutating func learn(_ call: ClusterCall, _ answer: ClusterAnswer) {
        for name in answer.outcomes { outcomes[name, default: 0] += 1 }
        if case .idle(.ended(let session, _)) = answer { lastOver = session }
        guard case .claim(let number, let claim) = call, case .claimed(.granted(let grant)) = answer else { return }
        let lease = RemoteLease(node: nodes[number % 3].nodeID, LeaseIdentity(claim.key, generation: grant.generation))
        granted[lease] = ClusterCall.RenewedLease(
            participantID: claim.key.participantID, generation: grant.generation, set: claim.set, credential: claim.credential,
            session: grant.session, isRecorded: grant.generation.isMultiple(of: 2))
    }

    private mutating func call(_ number: Int, _ settings: NodeSettings) -> ClusterCall {
        let stage = pick(["one", "two"])
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<30: return claim(number, stage)
        case 30..<58: return renewal(stage, of: settings.nodeID)
        case 58..<64: return .release(anyLease().lease)
        case 64..<68:
            return .end(
                stage: stage, participant: chance(of: 3) ? nil : anyLease().lease.key.participantID,
                LeaseEnding(code: 1007, words: "Ended \"here\"."))
        case 68..<74:
            let told = chance(of: 2) ? (0..<4).map { _ in anyLease().lease }.filter { $0.key.stageID == stage } : []
            return .sweep(stage: stage, node: pick(nodes).nodeID, told: told)
        case 74..<82: return .idle(stage: stage, told: chance(of: 4) ? nil : lastOver)
        case 82..<84: return .look(stage: stage, number: number)
        case 84..<85: return .begin(stage: stage, sessionID: session(), number: number)
        case 85..<87: return .announce(stage: stage, sessionID: granted.values.first?.session.id ?? "none")
        case 87..<89: return .mark(stages: [stage])
        case 89..<90: return .unmark(stage: stage)
        case 90..<92: return .stages(ofNode: pick(nodes).nodeID)
        case 92..<93: return .forgetStages(ofNode: pick(nodes).nodeID)
        case 93..<96: return .heartbeat(record: chance(of: 2) ? nil : "{\"n\":\(number)}", buries: chance(of: 2))
        case 96..<97: return .bury(node: pick(nodes).nodeID)
        case 97..<98: return .heard(node: chance(of: 9) ? "stranger" : pick(nodes).nodeID, number: number)
        default: return .nodes
        }
    }

    private mutating func claim(_ number: Int, _ stage: String) -> ClusterCall {
        let key = LeaseKey(stageID: stage, participantID: "p\(Int.random(in: 0..<7, using: &random))")
        let seen = granted.keys.filter { $0.lease.key == key }.map(\.lease.generation).max() ?? 0
        return .claim(
            number: number,
            ClusterCall.ClaimArguments(
                key: key, set: chance(of: 12) ? "" : chance(of: 4) ? "pair" : key.participantID, credential: pick(["x", "y"]),
                takesOver: chance(of: 4) ? seen : 0, sessionID: session(), lowestGeneration: chance(of: 20) ? seen + 5_000 : 1,
                grace: pick([.none, .none, .none, .expired, .unknown]), isOwnerSilent: chance(of: 3),
                ofDeadOwner: chance(of: 6) ? seen : 0))
    }

    private mutating func renewal(_ stage: String, of node: String) -> ClusterCall {
        let held = granted.filter { $0.key.node == node && $0.key.lease.key.stageID == stage }
        let some = held.sorted { $0.value.generation > $1.value.generation }.prefix(Int.random(in: 1...4, using: &random))
        // One of each participant, as a node holds them.
        let leases = Dictionary(some.map { ($0.value.participantID, $0.value) }) { first, _ in first }
        return .renew(stage: stage, leases.values.sorted { $0.participantID < $1.participantID })
    }

    private mutating func anyLease() -> RemoteLease {
        let known = granted.keys.sorted { $0.lease.generation < $1.lease.generation }.suffix(12)
        let none = RemoteLease(node: "a", LeaseIdentity(LeaseKey(stageID: "one", participantID: "p0"), generation: 1))
        return known.isEmpty ? none : pick(Array(known))
    }

    private mutating func session() -> String {
        sessions += 1
        return "st-\(sessions)"
    }

    private mutating func chance(of one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }
    private mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: 0..<elements.count, using: &random)]
    }
}

extension ClusterAnswer {
    /// The kinds of what is in it, for a look at whether random calls come by everything.
    fileprivate var outcomes: [String] {
        switch self {
        case .claimed(.granted(let grant)): [grant.displaced == nil ? "granted" : "taken over"]
        case .claimed(.held): ["held"]
        case .claimed(.full): ["full"]
        case .claimed(.wait): ["wait"]
        case .renewed(let renewals):
            renewals.map { renewal in
                switch renewal {
                case .ok: "ok"
                case .lost: "lost"
                case .end(let ending): ending.words.isEmpty ? "surplus" : "end"
                case .revived: "revived"
                }
            }
        case .swept(_, let ended): ended.isEmpty ? [] : ["swept"]
        case .idle(.ended): ["session over"]
        case .heard(let age): [age == nil ? "unheard" : "heard"]
        case .names(let names): names.isEmpty ? [] : ["names"]
        default: []
        }
    }
}
