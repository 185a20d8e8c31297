public import Wire

/// Which routers are out of reach for this gateway alone, dead or not in its configuration: another one's heartbeat still sees
/// them, so their stages stay where they are and new publishes for them are refused here.
public struct RouterReach {
    private var since: [String: MonotonicTime] = [:]

    public init() {}

    /// - Parameter living: the routers that are alive here.
    /// - Returns: those that have been alive to others alone for so long that it is this gateway's way to them.
    public mutating func outOfReach(
        living: Set<String>, seenByOthers: Set<String>, at now: MonotonicTime
    ) -> Set<String> {
        let doubtful = seenByOthers.subtracting(living)
        since = since.filter { doubtful.contains($0.key) }
        for router in doubtful where since[router] == nil { since[router] = now }
        return Set(since.filter { now - $0.value >= Self.patience }.keys)
    }

    /// Heartbeats are up to 3 s old, and the others may need as long to see that a router has really died.
    static let patience = Duration.seconds(6)
}
