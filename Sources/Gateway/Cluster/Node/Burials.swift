import Wire

/// Clears up after dead nodes, where the server gave this node the task: their leases are swept, stage by stage, and the history
/// is told of each before it is dropped. A node of which nothing is left is forgotten.
struct Burials: Sendable {
    private struct Burial {
        /// Those that are not swept yet; nil before they are known.
        var stages: Set<String>?
        /// Leases of which the history was told.
        var told: Set<LeaseIdentity> = []
        var beganAt: MonotonicTime
    }

    /// By node.
    private var burials: [String: Burial] = [:]

    /// - Parameter dead: the nodes that are this one's to bury.
    mutating func begin(_ dead: [String], _ now: MonotonicTime) -> [ClusterAction] {
        dead.flatMap { node -> [ClusterAction] in
            if let burial = burials[node], now - burial.beganAt < Self.patience { return [] }
            burials[node] = Burial(beganAt: now)
            return [.call(.stages(ofNode: node))]
        }
    }

    /// The node has come back, or it is not known any more how far the burial is.
    mutating func end(_ node: String) { burials[node] = nil }

    mutating func found(_ stages: [String], of node: String) -> [ClusterAction] {
        guard burials[node] != nil else { return [] }
        burials[node]?.stages = Set(stages)
        if stages.isEmpty { return [.call(.bury(node: node))] }
        // Ours from now on: it is for us to see its session end.
        return [.call(.mark(stages: stages.sorted()))] + stages.sorted().map { sweep($0, of: node, told: []) }
    }

    mutating func swept(_ stage: String, of node: String, left: Int, _ ended: [EndedLease]) -> [ClusterAction] {
        var actions: [ClusterAction] = []
        let news = ended.filter { burials[node]?.told.contains($0.lease) != true }
        if !news.isEmpty {
            burials[node]?.told.formUnion(news.map(\.lease))
            // They stay there until they are known to be told.
            actions += [.closed(stage: stage, news), sweep(stage, of: node, told: Set(news.map(\.lease)))]
        }
        guard left == 0, burials[node]?.stages?.remove(stage) != nil, burials[node]?.stages?.isEmpty == true else {
            return actions
        }
        return actions + [.call(.bury(node: node))]
    }

    /// Sweeps again what is left: leases that had not expired yet, and those whose sweep had no answer.
    var sweepsAgain: [ClusterAction] {
        burials.inOrder.flatMap { node, burial -> [ClusterAction] in
            (burial.stages ?? []).sorted().map { sweep($0, of: node, told: burial.told) }
        }
    }

    /// Its set of stages goes after it, because one that has come back needs it.
    mutating func buried(_ node: String, isForgotten: Bool) -> [ClusterAction] {
        burials[node] = nil
        return isForgotten ? [.call(.forgetStages(ofNode: node))] : []
    }

    private func sweep(_ stage: String, of node: String, told: Set<LeaseIdentity>) -> ClusterAction {
        let told = told.filter { $0.key.stageID == stage }.sorted { $0.generation < $1.generation }
        return .call(.sweep(stage: stage, node: node, told: told))
    }

    /// How long the server leaves a burial to one node; one that is stuck is begun anew.
    static let patience = Duration.seconds(10)
}
