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

/// The generations of placements and announces.
enum Generation {
    /// The next one after `last` (nil: none yet).
    static func next(after last: UInt64?, wallMilliseconds: Int64) -> UInt64 {
        let clock = UInt64(max(0, wallMilliseconds))
        return min(maximum, max(last.map { $0 + 1 } ?? 0, clock))
    }

    /// The largest that JSON readers keep exactly.
    static let maximum: UInt64 = 1 << 53 - 1
}
