import EventLoop
public import Wire

/// Placements of one gateway alone: those of live stages, which are asked for every few seconds, and of others for a day.
public final class LocalPlacements: PlacementStore {
    private var records: FadingTable<PlacementKey, PlacementRecord>

    /// - Parameter maximumCount: beyond it the stages used longest ago are forgotten, and placed anew by their next publish. The
    ///   default is more than a node carries.
    public init(maximumCount: Int = 65_536) {
        records = FadingTable(maximumCount: maximumCount, lifetime: .seconds(86_400))
    }

    public func placement(of key: PlacementKey, reply: @escaping (PlacementRecord?) -> Void) {
        reply(records.value(of: key, at: EventLoop.monotonicNow()))
    }

    public func replace(
        _ key: PlacementKey, _ expected: PlacementRecord?, with new: PlacementRecord, reply: @escaping (PlacementAnswer) -> Void
    ) {
        let now = EventLoop.monotonicNow()
        if records.value(of: key, at: now) == expected { records.set(new, for: key, at: now) }
        reply(records.glimpse(of: key).map { .current($0) } ?? .unavailable)
    }

    public func isOurs(stageID: String, since moment: MonotonicTime) -> Bool { true }

    /// What is known of these stages, for a process that takes this one's place.
    public func records(ofStages stages: Set<String>) -> [PlacementKey: PlacementRecord] {
        var found: [PlacementKey: PlacementRecord] = [:]
        for key in records.keys where stages.contains(key.stageID) { found[key] = records.glimpse(of: key) }
        return found
    }

    /// Goes on with what a process before this one has decided.
    public func adopt(_ record: PlacementRecord, of key: PlacementKey) {
        let record = PlacementRecord(router: record.router, generation: min(record.generation, Generation.maximum))
        records.set(record, for: key, at: EventLoop.monotonicNow())
    }
}
