import EventLoop
import Store

/// The stages that this node refuses because it alone cannot reach their routers. The control loop sets which those are, and
/// any thread asks.
final class StagesOutOfReach: Sendable {
    private let store: any GatewayStore
    private let replicas: Int
    private let routers = Lock<Set<String>>([])

    init(store: any GatewayStore, replicas: Int) { (self.store, self.replicas) = (store, replicas) }

    /// - Returns: whether that is news.
    func set(_ routers: Set<String>) -> Bool {
        self.routers.withLock { known in
            defer { known = routers }
            return known != routers
        }
    }

    /// Whether the stage has been placed, and on such routers only.
    func contains(_ stageID: String) -> Bool {
        let routers = routers.withLock { $0 }
        guard !routers.isEmpty else { return false }
        let placements = store.state.placements
        let placed = (0..<replicas).compactMap { placements[Placement.Key(stageID: stageID, replica: $0)]?.router }
        return !placed.isEmpty && placed.allSatisfy(routers.contains)
    }
}
