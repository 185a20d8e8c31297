import Settings
import Wire

@testable import Cluster

/// The scripts in Swift: what a server does, in memory, with a clock that is given. A test compares it with the real ones.
struct ModelServer {
    struct Lease {
        var node: String
        var generation: UInt64
        var expires: Int64
        var set: String
        var credential: String
        var session: String
        var since: UInt64
        /// Whoever sweeps has been told that it is over.
        var isTold = false
        var ending: LeaseEnding?
    }

    struct Session {
        var shared: SharedSession
        var idle: Int64?
        var isRecorded = false
    }

    struct Stage {
        var leases: [String: Lease] = [:]
        var session: Session?
        /// Generations of participants that were swept or displaced.
        var swept: [String: UInt64] = [:]
        /// Of the session before: those, and what was left of its leases; and its id, if the history knows it.
        var former: (swept: [String: UInt64], sessionID: String?) = ([:], nil)
        var generation: UInt64 = 0
        /// A session that has ended, until the history is known to have been told.
        var over: (sessionID: String, dropped: [EndedLease])?
    }

    struct Burial {
        var ends: Int64
        var survivor: String
    }

    /// Milliseconds since 1970.
    var now: Int64
    var stages: [String: Stage] = [:]
    var nodeStages: [String: Set<String>] = [:]
    var alive: [String: Int64] = [:]
    var records: [String: String] = [:]
    var burials: [String: Burial] = [:]
    /// Calls carried out, by the script or command.
    var calls = 0

    init(now: Int64) { self.now = now }

    /// - Parameter settings: of the node that calls.
    mutating func carryOut(_ call: ClusterCall, for settings: NodeSettings) -> ClusterAnswer {
        calls += 1
        switch call {
        case .mark(let stages): nodeStages[settings.nodeID, default: []].formUnion(stages)
        case .unmark(let stage): nodeStages[settings.nodeID]?.remove(stage)
        case .stages(ofNode: let node): return .names(nodeStages[node, default: []].sorted())
        case .forgetStages(ofNode: let node): nodeStages[node] = nil
        case .heartbeat(let record, let buries): return .names(beat(settings, record, buries))
        case .bury(let node): return .buried(bury(node))
        case .heard(let node, _):
            let lifetime = settings.cluster.heartbeatLifetime.milliseconds
            return .heard(alive[node].map { .milliseconds(now + lifetime - $0) })
        case .nodes: return .nodes(alive.filter { $0.value > now }.reduce(into: [:]) { $0[$1.key] = records[$1.key] ?? "" })
        case .claim(_, let claim): return .claimed(stages[claim.key.stageID, default: Stage()].claim(claim, settings, now))
        case .renew(let stage, let leases):
            return .renewed(stages[stage, default: Stage()].renew(leases, settings, now))
        case .release(let lease): stages[lease.key.stageID, default: Stage()].release(lease, now)
        case .end(let stage, let participant, let ending):
            return .ended(stages[stage, default: Stage()].end(stage, participant, ending))
        case .sweep(let stage, let node, let told): return stages[stage, default: Stage()].sweep(stage, node, told, now)
        case .idle(let stage, let told):
            let linger = settings.quotas.sessionLinger.milliseconds
            return .idle(stages[stage, default: Stage()].endIdle(stage, after: linger, told: told, now))
        case .look(let stage, _): return .looked(stages[stage, default: Stage()].view(now))
        case .begin(let stage, let session, _):
            stages[stage, default: Stage()].begin(session, start: now)
            stages[stage]?.noteIdle(now)
            return .looked(stages[stage, default: Stage()].view(now))
        case .announce(let stage, let session):
            if stages[stage]?.session?.shared.id == session { stages[stage]?.session?.isRecorded = true }
        }
        return .done
    }

    private mutating func beat(_ settings: NodeSettings, _ record: String?, _ buries: Bool) -> [String] {
        alive[settings.nodeID] = now + settings.cluster.heartbeatLifetime.milliseconds
        burials[settings.nodeID] = nil
        if let record { records[settings.nodeID] = record }
        guard buries else { return [] }
        let dead = alive.filter { $0.value <= now }.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.prefix(16).map(\.key)
        return dead.filter { node in
            if let burial = burials[node], burial.ends > now, burial.survivor != settings.nodeID { return false }
            burials[node] = Burial(ends: now + 10_000, survivor: settings.nodeID)
            return true
        }
    }

    private mutating func bury(_ node: String) -> Bool {
        guard let term = alive[node], term <= now else { return false }
        (alive[node], records[node], burials[node]) = (nil, nil, nil)
        return true
    }
}
