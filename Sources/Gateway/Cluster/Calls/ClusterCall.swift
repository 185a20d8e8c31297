import Admission
import Settings
import Wire

/// What a node asks of the server. Everything about one stage is one script in the stage's slot (Scripts/).
enum ClusterCall: Hashable, Sendable {
    /// - Parameter number: the claim's, by which the answer finds it.
    case claim(number: Int, ClaimArguments)
    case renew(stage: String, [RenewedLease])
    case release(LeaseIdentity)
    /// - Parameter participant: nil for all of the stage.
    case end(stage: String, participant: String?, LeaseEnding)
    /// - Parameter told: those of the node of which the history knows that they are over.
    case sweep(stage: String, node: String, told: [LeaseIdentity])
    /// - Parameter told: the session of whose end the history knows.
    case idle(stage: String, told: String? = nil)
    /// - Parameter number: of who asked.
    case look(stage: String, number: Int)
    /// - Parameter number: of who asked.
    case begin(stage: String, sessionID: String, number: Int)
    case announce(stage: String, sessionID: String)
    /// Adds stages to those of this node, before anything is claimed there.
    case mark(stages: [String])
    case unmark(stage: String)
    case stages(ofNode: String)
    case forgetStages(ofNode: String)
    /// - Parameters:
    ///   - record: nil when it is unchanged.
    ///   - buries: whether the server may answer dead nodes for this one to bury.
    case heartbeat(record: String?, buries: Bool)
    case bury(node: String)
    /// When a node was last heard of.
    /// - Parameter number: of the claim that waits for its lease.
    case heard(node: String, number: Int)
    /// Who counts as alive, and their records.
    case nodes

    /// What `Scripts/claim.lua` decides by.
    struct ClaimArguments: Hashable, Sendable {
        var key: LeaseKey
        /// What counts as one publisher: an ingest configuration, or a participant; empty for an audience, which does not count.
        var set: String
        /// A hash. Who shows the same one again is the same encoder, and need not wait as long.
        var credential: String
        /// The generation that may be taken over; 0: none.
        var takesOver: UInt64
        /// In case a session begins.
        var sessionID: String
        /// What is granted is of this generation or a higher one.
        var lowestGeneration: UInt64
        var grace: Grace
        /// The lease's owner was asked whether it still has it, and did not answer.
        var isOwnerSilent: Bool
        /// The generation whose owner is dead, which its encoder may take before it ends; 0: none.
        var ofDeadOwner: UInt64
    }

    /// A lease that its node holds, with all that is needed to make it anew where the server has forgotten it.
    struct RenewedLease: Hashable, Sendable {
        var participantID: String
        var generation: UInt64
        var set: String
        var credential: String
        var session: SharedSession
        /// The history knows the session.
        var isRecorded = false
    }
}

/// How much of what others held is to be respected after the server was silent.
enum Grace: String, Sendable {
    case none = ""
    /// An expired lease may be live: its node could not renew it.
    case expired
    /// An absent lease may be live too: the server has forgotten.
    case unknown
}

/// One command as it is sent: a script with its keys and arguments, or a plain command on one key.
struct ClusterCommand: Equatable, Sendable {
    enum Body: Equatable, Sendable {
        case script(ClusterScript)
        /// The command's name.
        case plain(String)
    }

    var body: Body
    var keys: [String]
    var arguments: [String] = []
}

extension ClusterCall {
    func command(_ settings: NodeSettings) -> ClusterCommand {
        let keys = ClusterKeys(prefix: settings.cluster.keyPrefix)
        switch self {
        case .mark(let stages): return plain("SADD", keys.stages(ofNode: settings.nodeID), stages)
        case .unmark(let stage): return plain("SREM", keys.stages(ofNode: settings.nodeID), [stage])
        case .stages(ofNode: let node): return plain("SMEMBERS", keys.stages(ofNode: node))
        case .forgetStages(ofNode: let node): return plain("DEL", keys.stages(ofNode: node))
        case .heartbeat(let record, let buries):
            return script(
                .heartbeat, keys.nodes,
                settings.nodeID, record ?? "", settings.cluster.heartbeatLifetime.text, buries ? "1" : "0",
                Burials.patience.text)
        case .bury(let node): return script(.bury, keys.nodes, node)
        case .heard(let node, _): return script(.heard, keys.nodes, node, settings.cluster.heartbeatLifetime.text)
        case .nodes: return script(.nodes, keys.nodes)
        default: return stageCommand(settings, keys)
        }
    }

    private func stageCommand(_ settings: NodeSettings, _ keys: ClusterKeys) -> ClusterCommand {
        switch self {
        case .claim(_, let claim):
            return script(
                .claim, keys.stage(claim.key.stageID),
                claim.key.participantID, settings.nodeID, claim.set, claim.credential, settings.cluster.leaseLifetime.text,
                "\(settings.quotas.publishersPerStage)", "\(claim.takesOver)", claim.sessionID, "\(claim.lowestGeneration)",
                claim.grace.rawValue, claim.isOwnerSilent ? "1" : "0", "\(claim.ofDeadOwner)")
        case .renew(let stage, let leases): return renewal(of: leases, settings, keys.stage(stage))
        case .release(let lease):
            return script(.release, keys.stage(lease.key.stageID), lease.key.participantID, "\(lease.generation)")
        case .end(let stage, let participant, let ending):
            return script(.end, keys.stage(stage), participant ?? "", "\(ending.code)", ending.words)
        case .sweep(let stage, let node, let told):
            var command = script(.sweep, keys.stage(stage), node)
            for lease in told { command.arguments += [lease.key.participantID, "\(lease.generation)"] }
            return command
        case .idle(let stage, let told):
            return script(.idle, keys.stage(stage), settings.quotas.sessionLinger.text, told ?? "")
        case .look(let stage, _): return script(.look, keys.stage(stage))
        case .begin(let stage, let session, _): return script(.begin, keys.stage(stage), session)
        case .announce(let stage, let session): return script(.announce, keys.stage(stage), session)
        default: preconditionFailure("calls of nodes are made in command(_:)")
        }
    }

    private func renewal(of leases: [RenewedLease], _ settings: NodeSettings, _ stage: [String]) -> ClusterCommand {
        var command = script(
            .renew, stage, settings.nodeID, settings.cluster.leaseLifetime.text, "\(settings.quotas.publishersPerStage)",
            "\(Self.surplusCode)")
        for lease in leases {
            command.arguments += [
                lease.participantID, "\(lease.generation)", lease.set, lease.credential, lease.session.id,
                "\(lease.session.start)", lease.isRecorded ? "1" : "0",
            ]
        }
        return command
    }

    private func plain(_ name: String, _ key: String, _ arguments: [String] = []) -> ClusterCommand {
        ClusterCommand(body: .plain(name), keys: [key], arguments: arguments)
    }

    private func script(_ script: ClusterScript, _ keys: [String], _ arguments: String...) -> ClusterCommand {
        ClusterCommand(body: .script(script), keys: keys, arguments: arguments)
    }

    /// The number under which renewals note that there are too many publishers.
    static let surplusCode = 1005
}

extension Duration {
    /// Whole milliseconds, as scripts take them.
    fileprivate var text: String { "\(milliseconds)" }
}

/// The scripts of `Scripts/`, each carried out as a whole: nothing of others comes between its reads and its writes.
enum ClusterScript: CaseIterable, Sendable {
    case claim, renew, release, end, sweep, idle, look, begin, announce
    case heartbeat, bury, heard, nodes

    /// The text that the server is given; those about stages begin with what they share.
    var source: String { String(decoding: bytes, as: UTF8.self) }

    private var bytes: [UInt8] {
        switch self {
        case .claim: PackageResources.common_lua + PackageResources.claim_lua
        case .renew: PackageResources.common_lua + PackageResources.renew_lua
        case .release: PackageResources.common_lua + PackageResources.release_lua
        case .end: PackageResources.common_lua + PackageResources.end_lua
        case .sweep: PackageResources.common_lua + PackageResources.sweep_lua
        case .idle: PackageResources.common_lua + PackageResources.idle_lua
        case .look: PackageResources.common_lua + PackageResources.look_lua
        case .begin: PackageResources.common_lua + PackageResources.begin_lua
        case .announce: PackageResources.common_lua + PackageResources.announce_lua
        case .heartbeat: PackageResources.heartbeat_lua
        case .bury: PackageResources.bury_lua
        case .heard: PackageResources.heard_lua
        case .nodes: PackageResources.nodes_lua
        }
    }
}

/// The names of what the nodes share (docs/cluster-schema.md). Braces choose the slot of a Redis Cluster.
struct ClusterKeys: Sendable {
    let prefix: String

    /// Leases, running session, last generation: what the scripts of a stage work on.
    func stage(_ id: String) -> [String] {
        ["leases", "session", "generation"].map { "\(prefix){\(id)}:\($0)" }
    }

    /// Until when each node counts as alive, the nodes' records, who buries whom.
    var nodes: [String] { ["alive", "records", "burials"].map { "\(prefix){nodes}:\($0)" } }

    /// The stages on which a node publishes, or waits for the end of the session.
    func stages(ofNode id: String) -> String { "\(prefix){node:\(id)}:stages" }

    /// What is said to one node.
    func channel(ofNode id: String) -> String { "\(prefix)node:\(id)" }
}
