import Cluster
import ClusterStore
import EventLoop
import Redis
import Store

/// Whether the node is alone or one of several: where its configuration and history are, and who keeps its leases.
enum Membership: Sendable {
    /// Another process can take its place.
    case alone(EmbeddedContext)
    /// It is drained instead, while the other nodes serve.
    case member(ClusterContext)

    var store: any GatewayStore {
        switch self {
        case .alone(let embedded): embedded.store
        case .member(let cluster): cluster.store
        }
    }

    /// Where events wait for webhooks: each node delivers what it recorded.
    var outbox: EmbeddedStore {
        switch self {
        case .alone(let embedded): embedded.store
        case .member(let cluster): cluster.store.local
        }
    }

    var leases: any LeaseControl {
        switch self {
        case .alone(let embedded): embedded.leases
        case .member(let cluster): cluster.leases
        }
    }

    /// This node's name among several; nil where it is alone.
    var node: String? {
        if case .member(let cluster) = self { cluster.leases.settings.nodeID } else { nil }
    }

    /// Why the cluster's servers do not answer, or write; nil while they do, and where there are none.
    var clusterFault: String? { if case .member(let cluster) = self { cluster.fault.withLock { $0.words } } else { nil } }

    func close() {
        switch self {
        case .alone(let embedded): embedded.store.close()
        case .member(let cluster): cluster.store.close()
        }
    }
}

/// Store and leases of a node that is alone. Only they can be given to another process of the node.
struct EmbeddedContext: Sendable {
    let store: EmbeddedStore
    let leases: EmbeddedLeases
}

/// What a node of a cluster shares with the others, for all threads.
struct ClusterContext: Sendable {
    let store: RedisStore
    let leases: ClusterLeases
    let redis: RedisSettings
    let fault = Lock(ClusterFault())

    var neighbours: Neighbours { Neighbours(leases.nodes, of: leases.settings.nodeID) }

    /// The stage routers that the heartbeats of other nodes call alive.
    var routersSeenByOthers: Set<String> { neighbours.routers }
}

/// Why the servers do not answer, or write; both reasons come and go on their own.
struct ClusterFault: Sendable {
    /// Why they cannot be reached; nil while they answer.
    var absence: String? = "not connected yet"
    /// What they say when they answer but write nothing: for want of disk or memory they refuse for as long as that lasts.
    var refusal: String?

    /// For operators; nil while they answer and write.
    var words: String? { absence ?? refusal.map { "the servers refuse what is written: \($0)" } }
}
