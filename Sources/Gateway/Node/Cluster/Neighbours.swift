import Admission
import Cluster
import WHIPIngest

/// The other nodes of a cluster, as their heartbeats describe them.
struct Neighbours {
    private let others: [NodeRecord]

    /// - Parameters:
    ///   - nodes: those that live.
    ///   - own: the id of the one that asks.
    init(_ nodes: [NodeRecord], of own: String) { others = nodes.filter { $0.id != own } }

    /// Where another node is reached by nodes; nil for ours, and for one that does not live or gives no address.
    func address(ofNode node: String) -> String? {
        others.first { $0.id == node && !$0.nodeURL.isEmpty }?.nodeURL
    }

    /// Where encoders reach the node that has least to do, of those that stay and are not full.
    /// - Parameter isSecure: an encoder that came by TLS is not sent on without.
    func roomiest(isSecure: Bool) -> String? {
        others.filter { node in
            !node.isDraining && node.load < 1 && !node.publicURL.isEmpty && (!isSecure || node.publicURL.hasPrefix("https://"))
        }.min { $0.load < $1.load }?.publicURL
    }

    /// The stage routers that one of them sees alive.
    var routers: Set<String> { others.reduce(into: []) { $0.formUnion($1.routers) } }
}

/// The other nodes as WHIP's resources see them.
struct LivingNeighbours: NeighbourDirectory {
    let cluster: ClusterContext
    let gate: AdmissionGate

    func address(ofNode node: String) -> String? { cluster.neighbours.address(ofNode: node) }

    /// Nil where the encoder is to stay: here is room.
    func betterEndpoint(isSecure: Bool) -> String? {
        guard gate.isLeaving || !gate.takesPublishes else { return nil }
        return cluster.neighbours.roomiest(isSecure: isSecure)
    }
}
