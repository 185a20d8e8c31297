import Cluster
import EventLoop
import RouterForwarding
import Store
import Wire

/// Placements in the store that all nodes of a platform share. Confined to the control loop.
final class SharedPlacements: PlacementStore {
    private let store: any GatewayStore
    /// Whether another node sees the router alive, as its heartbeat says.
    private let isSeenByOthers: (String) -> Bool
    private let leases: ClusterLeases
    private let replies: ReplyBox

    init(
        loop: EventLoop, store: any GatewayStore, leases: ClusterLeases, isSeenByOthers: @escaping (String) -> Bool
    ) throws(SystemError) {
        (self.store, self.leases, self.isSeenByOthers) = (store, leases, isSeenByOthers)
        replies = try ReplyBox(loop: loop)
    }

    func placement(of key: PlacementKey, reply: @escaping (PlacementRecord?) -> Void) {
        reply(store.state.placements[Placement.Key(key)].map { PlacementRecord($0) })
    }

    func replace(
        _ key: PlacementKey, _ expected: PlacementRecord?, with new: PlacementRecord,
        reply: @escaping (PlacementAnswer) -> Void
    ) {
        if let expected, isSeenByOthers(expected.router) { return reply(.stillSeenByOthers) }
        replies.ask { answer in
            store.write { transaction in
                let key = Placement.Key(key)
                let known = transaction.state.placements[key]
                // Another gateway's move came first: that one holds.
                if let known, expected != PlacementRecord(known) { return known }
                return transaction.place(key, on: new.router, expected: known, now: EventLoop.wallNow())
            } reply: {
                answer($0)
            }
        } then: { (result: Result<Placement, any Error>?) in
            reply((try? result?.get()).map { .current(PlacementRecord($0)) } ?? .unavailable)
        }
    }

    /// What another node has taken over is no longer ours once a renewal has said so.
    func isOurs(stageID: String, since moment: MonotonicTime) -> Bool {
        leases.renewalTime(ofStage: stageID).map { $0 >= moment } ?? false
    }
}

extension Placement.Key {
    fileprivate init(_ key: PlacementKey) { self.init(stageID: key.stageID, replica: key.replica) }
}

extension PlacementRecord {
    fileprivate init(_ placement: Placement) { self.init(router: placement.router, generation: placement.generation) }
}
