import Store

/// Store and leases of a node that is a platform by itself. Only they can be given to another process of the node.
struct EmbeddedPlatform: Sendable {
    let store: EmbeddedStore
    let leases: EmbeddedLeases
}
