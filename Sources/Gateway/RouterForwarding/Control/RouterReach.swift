public import Wire

/// Which routers are dead for this gateway alone: another one's heartbeat still sees them, so their stages stay where they are
/// and new publishes for them are refused here.
public struct RouterReach {
    private var since: [String: MonotonicTime] = [:]

    public init() {}

    /// - Returns: the routers that have been dead here and alive to others for so long that it is this gateway's way to them.
    public mutating func outOfReach(
        dead: Set<String>, seenByOthers: Set<String>, at now: MonotonicTime
    ) -> Set<String> {
        let doubtful = dead.intersection(seenByOthers)
        since = since.filter { doubtful.contains($0.key) }
        for router in doubtful where since[router] == nil { since[router] = now }
        return Set(since.filter { now - $0.value >= Self.patience }.keys)
    }

    /// Heartbeats are up to 3 s old, and the others may need as long to see that a router has really died.
    static let patience = Duration.seconds(6)
}
