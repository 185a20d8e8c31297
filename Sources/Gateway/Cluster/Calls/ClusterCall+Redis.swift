import Settings
import Wire

/// One command as it is sent: a script with its keys and arguments, or a plain command on one key.
package struct ClusterCommand: Equatable, Sendable {
    package enum Body: Equatable, Sendable {
        case script(ClusterScript)
        case plain(String)
    }

    package var body: Body
    package var keys: [String]
    package var arguments: [String] = []
}

extension ClusterCall {
    /// The number under which renewals note that there are too many publishers.
    static let surplusCode = 1005

    package func command(_ settings: NodeSettings) -> ClusterCommand {
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
                NodeMachine.burialPatience.text)
        case .bury(let node): return script(.bury, keys.nodes, node)
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
                claim.grace.rawValue, claim.isOwnerSilent ? "1" : "0")
        case .renew(let stage, let leases):
            var command = script(
                .renew, keys.stage(stage), settings.nodeID, settings.cluster.leaseLifetime.text,
                "\(settings.quotas.publishersPerStage)",
                "\(Self.surplusCode)")
            for lease in leases {
                command.arguments += [
                    lease.participantID, "\(lease.generation)", lease.set, lease.credential, lease.session.id,
                    "\(lease.session.start)",
                ]
            }
            return command
        case .release(let lease):
            return script(.release, keys.stage(lease.key.stageID), lease.key.participantID, "\(lease.generation)")
        case .end(let stage, let participant, let ending):
            return script(.end, keys.stage(stage), participant ?? "", "\(ending.code)", ending.words)
        case .sweep(let stage, let node): return script(.sweep, keys.stage(stage), node)
        case .idle(let stage): return script(.idle, keys.stage(stage), settings.quotas.sessionLinger.text)
        case .look(let stage, _): return script(.look, keys.stage(stage))
        case .begin(let stage, let session, _): return script(.begin, keys.stage(stage), session)
        case .announce(let stage, let session): return script(.announce, keys.stage(stage), session)
        default: preconditionFailure("calls of nodes are made in command(_:)")
        }
    }

    private func plain(_ name: String, _ key: String, _ arguments: [String] = []) -> ClusterCommand {
        ClusterCommand(body: .plain(name), keys: [key], arguments: arguments)
    }

    private func script(_ script: ClusterScript, _ keys: [String], _ arguments: String...) -> ClusterCommand {
        ClusterCommand(body: .script(script), keys: keys, arguments: arguments)
    }
}

extension Duration {
    /// Whole milliseconds, as scripts take them.
    fileprivate var text: String { "\(milliseconds)" }
}
