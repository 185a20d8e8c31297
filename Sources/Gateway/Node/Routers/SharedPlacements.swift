import EventLoop
import RouterForwarding
import Store

/// Placements in the store that all nodes of a platform share. Confined to the control loop.
final class SharedPlacements: PlacementStore {
    private let store: any GatewayStore
    /// Whether another node sees the router alive, as its heartbeat says.
    private let isSeenByOthers: (String) -> Bool
    private var waiting: [Int: (PlacementAnswer) -> Void] = [:]
    private var lastNumber = 0
    private var mailbox: Mailbox<(Int, PlacementAnswer)>?

    init(loop: EventLoop, store: any GatewayStore, isSeenByOthers: @escaping (String) -> Bool) throws(SystemError) {
        (self.store, self.isSeenByOthers) = (store, isSeenByOthers)
        mailbox = try Mailbox(loop: loop) { [unowned self] number, answer in waiting.removeValue(forKey: number)?(answer) }
    }

    func placement(of key: PlacementKey, reply: @escaping (PlacementRecord?) -> Void) {
        reply(store.state.placements[Store.Placement.Key(key)].map { PlacementRecord($0) })
    }

    func replace(
        _ key: PlacementKey, _ expected: PlacementRecord?, with new: PlacementRecord,
        reply: @escaping (PlacementAnswer) -> Void
    ) {
        if let expected, isSeenByOthers(expected.router) { return reply(.stillSeenByOthers) }
        lastNumber += 1
        let (number, sender) = (lastNumber, mailbox?.sender)
        waiting[number] = reply
        store.write { transaction in
            let key = Store.Placement.Key(key)
            let known = transaction.state.placements[key]
            // Another gateway's move came first: that one holds.
            if let known, expected != PlacementRecord(known) { return known }
            return transaction.place(key, on: new.router, expected: known, now: EventLoop.wallNow())
        } reply: { (result: Result<Store.Placement, any Error>) in
            let answer = (try? result.get()).map { PlacementAnswer.current(PlacementRecord($0)) }
            sender?.send((number, answer ?? .unavailable))
        }
    }
}

extension Store.Placement.Key {
    fileprivate init(_ key: PlacementKey) { self.init(stageID: key.stageID, replica: key.replica) }
}

extension PlacementRecord {
    fileprivate init(_ placement: Store.Placement) { self.init(router: placement.router, generation: placement.generation) }
}
