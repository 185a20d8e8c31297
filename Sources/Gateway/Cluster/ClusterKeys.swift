import Admission

/// The names of what the nodes share (docs/scaling.md). Braces choose the slot of a Redis Cluster.
package struct ClusterKeys: Sendable {
    let prefix: String

    package init(prefix: String) { self.prefix = prefix }

    /// Leases, running session, last generation: what the scripts of a stage work on.
    func stage(_ id: String) -> [String] {
        ["leases", "session", "generation"].map { "\(prefix){\(id)}:\($0)" }
    }

    /// Until when each node counts as alive, the nodes' records, who buries whom.
    var nodes: [String] { ["alive", "records", "burials"].map { "\(prefix){nodes}:\($0)" } }

    /// The stages on which a node publishes, or whose end it waits for.
    func stages(ofNode id: String) -> String { "\(prefix){node:\(id)}:stages" }

    /// What is said to one node, and to all.
    func channel(ofNode id: String) -> String { "\(prefix)node:\(id)" }
    var everybody: String { "\(prefix)nodes" }
}
