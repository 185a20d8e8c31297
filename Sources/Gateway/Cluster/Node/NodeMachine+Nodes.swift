import Settings
import Wire

/// That this node lives, which others do, and what is left of those that have died.
extension NodeMachine {
    /// A burial that is stuck begins anew.
    static let burialPatience = Duration.seconds(10)

    /// The more nodes there are, the older the list of them may be: reading it costs all of them alike.
    var nodesInterval: Duration { max(.seconds(3), .milliseconds(Int64(nodes.count) * 50)) }

    mutating func beat(_ now: MonotonicTime) -> [ClusterAction] {
        heartbeatAt = now + settings.cluster.heartbeatInterval
        guard !outage.isAway else { return [] }
        let news = record == toldRecord ? nil : record
        var actions: [ClusterAction] = [.call(.heartbeat(record: news, buries: outage.grace(at: now) == .none))]
        if now >= nodesAt {
            nodesAt = now + nodesInterval
            actions.append(.call(.nodes))
        }
        for (node, burial) in burials.inOrder {
            actions += (burial.stages ?? []).sorted().map { .call(.sweep(stage: $0, node: node)) }
        }
        return actions + askForIdleness(now)
    }

    mutating func bury(_ dead: [String], _ now: MonotonicTime) -> [ClusterAction] {
        dead.flatMap { node -> [ClusterAction] in
            if let burial = burials[node], now - burial.beganAt < Self.burialPatience { return [] }
            burials[node] = Burial(beganAt: now)
            return [.call(.stages(ofNode: node))]
        }
    }

    mutating func sweep(_ node: String, _ stages: [String]) -> [ClusterAction] {
        guard burials[node] != nil else { return [] }
        burials[node]?.stages = Set(stages)
        if stages.isEmpty { return forget(node) }
        // Ours from now on: the end of its session is for us to see.
        return [.call(.mark(stages: stages.sorted()))] + stages.sorted().map { .call(.sweep(stage: $0, node: node)) }
    }

    mutating func swept(
        _ stage: String, _ node: String, _ left: Int, _ dropped: [EndedLease], _ now: MonotonicTime
    ) -> [ClusterAction] {
        var actions: [ClusterAction] = dropped.isEmpty ? [] : [.closed(stage: stage, dropped)]
        watchIdleness(of: stage, now)
        guard left == 0, burials[node]?.stages?.remove(stage) != nil, burials[node]?.stages?.isEmpty == true else {
            return actions
        }
        actions += forget(node)
        return actions
    }

    private func forget(_ node: String) -> [ClusterAction] {
        [.call(.forgetStages(ofNode: node)), .call(.bury(node: node))]
    }
}
