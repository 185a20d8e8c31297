import EventLoop
public import Wire

/// Which router has a stage, as all gateways see it: one record per stage and replica.
public struct PlacementRecord: Sendable, Equatable {
    /// The name in the configuration.
    public var router: String
    /// max(last + 1, wall clock in ms), below 2^53.
    public var generation: UInt64

    public init(router: String, generation: UInt64) { (self.router, self.generation) = (router, generation) }
}

/// A stage, and which of its routers is meant: 0 is the first.
public struct PlacementKey: Sendable, Hashable {
    public var stageID: String
    public var replica: Int

    public init(stageID: String, replica: Int) { (self.stageID, self.replica) = (stageID, replica) }
}

/// What became of a compare-and-swap.
public enum PlacementAnswer: Sendable, Equatable {
    /// The record as it stands now: ours, or another gateway's move that came first.
    case current(PlacementRecord)
    /// Other gateways still see the router: the stage stays, and new publishes are refused here.
    case stillSeenByOthers
    /// Nothing is known to have been written.
    case unavailable
}

/// Where placements are kept. Confined to the control loop; answers may come at once or later, exactly once.
public protocol PlacementStore: AnyObject {
    /// The record as it stands; nil where there is none.
    func placement(of key: PlacementKey, reply: @escaping (PlacementRecord?) -> Void)
    /// Writes `new` if the record still is `expected` (nil: if there is none).
    func replace(
        _ key: PlacementKey, _ expected: PlacementRecord?, with new: PlacementRecord, reply: @escaping (PlacementAnswer) -> Void)
    /// Whether the stage's publishes that are here were known, at some moment since then, to be no other gateway's.
    func isOurs(stageID: String, since moment: MonotonicTime) -> Bool
}

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

/// The largest generation that JSON readers keep exactly.
enum Generation {
    static let maximum: UInt64 = 1 << 53 - 1

    /// The next one after `last` (nil: none yet).
    static func next(after last: UInt64?, wallMilliseconds: Int64) -> UInt64 {
        let clock = UInt64(max(0, wallMilliseconds))
        return min(maximum, max(last.map { $0 + 1 } ?? 0, clock))
    }
}
