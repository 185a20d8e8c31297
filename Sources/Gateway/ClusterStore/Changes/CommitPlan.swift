import Redis
import Store
import Wire

/// The changes of one transaction as what is written where, in which order.
///
/// Ingest configurations go before stages, stages before storage configurations, keys and settings: a key that has lost its
/// stage is harmless, a stage that is gone with keys still pointing to it would look attached. Replications go first where their
/// stage stays: nodes change them by themselves, and what was deleted before such a conflict would not be found when the
/// transaction runs again. Lists are longer than what there is, never shorter.
struct CommitPlan {
    struct Item {
        var key: String
        var id: Record.ID
        /// Nil when it is to be deleted.
        var record: Record?
        /// Which the change was based on; 0 for none.
        var expected: UInt64
    }

    /// What one script changes at once.
    struct Slot {
        var tag: String
        var items: [Item]

        fileprivate var rank: Int { items.map(\.id.rank).max() ?? 0 }
    }

    let slots: [Slot]
    /// Listed before the records are made.
    let listed: [KeySchema.Listing]
    /// Taken from the lists once the records are gone.
    let unlisted: [KeySchema.Listing]

    var keys: [String] { slots.flatMap { $0.items.map(\.key) } }
    var isEmpty: Bool { slots.isEmpty }

    /// - Parameter copy: what the changes were based on. Changes that change nothing are left out.
    init(_ changes: [Change], on copy: LocalCopy, schema: KeySchema) {
        var items: [Item] = []
        var places: [String: Int] = [:]
        for change in changes {
            let key = schema.record(change.id)
            var item = Item(key: key, id: change.id, record: nil, expected: copy.version(ofKey: key))
            if case .put(let record) = change { item.record = record }
            if let place = places[key] {
                items[place] = item
            } else {
                places[key] = items.count
                items.append(item)
            }
        }
        items.removeAll { copy.state.record($0.id) == $0.record }
        listed = items.filter { $0.record != nil && $0.expected == 0 }.compactMap { schema.listing($0.id) }
        unlisted = items.filter { $0.record == nil }.compactMap { schema.listing($0.id) }
        slots = Self.slots(of: items, schema: schema)
    }

    private static func slots(of items: [Item], schema: KeySchema) -> [Slot] {
        var slots: [Slot] = []
        for item in items {
            let tag = schema.tag(item.key)
            if let place = slots.firstIndex(where: { $0.tag == tag }) {
                slots[place].items.append(item)
            } else {
                slots.append(Slot(tag: tag, items: [item]))
            }
        }
        return slots.sorted { $0.rank < $1.rank }
    }
}

extension Record.ID {
    /// Whether the set of its stage's members lists it.
    var isMemberOfStage: Bool {
        switch self {
        case .placement, .revocation, .replication: true
        case .stage, .publicKey, .ingestConfiguration, .storageConfiguration, .setting: false
        }
    }

    /// What is changed first has the lowest.
    fileprivate var rank: Int {
        switch self {
        case .replication: 0
        case .ingestConfiguration: 1
        case .placement, .revocation, .stage: 2
        case .storageConfiguration: 3
        case .publicKey: 4
        case .setting: 5
        }
    }
}
