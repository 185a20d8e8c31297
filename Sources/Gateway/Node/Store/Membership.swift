import ClusterStore
import Store

/// Whether the node is a platform by itself or one of several: where its configuration and history are, and who keeps its leases.
enum Membership: Sendable {
    /// Its place another process can take.
    case alone(EmbeddedPlatform)
    /// It is drained, and the other nodes serve meanwhile.
    case member(ClusterPlatform)

    var store: any PlatformStore {
        switch self {
        case .alone(let platform): platform.store
        case .member(let cluster): cluster.store
        }
    }

    /// Where events wait for webhooks: each node delivers what it recorded.
    var outbox: any PlatformStore {
        switch self {
        case .alone(let platform): platform.store
        case .member(let cluster): cluster.store.local
        }
    }

    var leases: any LeaseControl {
        switch self {
        case .alone(let platform): platform.leases
        case .member(let cluster): cluster.leases
        }
    }

    func close() {
        switch self {
        case .alone(let platform): platform.store.close()
        case .member(let cluster): cluster.store.close()
        }
    }
}
