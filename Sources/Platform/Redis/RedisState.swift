public import Wire

/// Whether the servers can be had.
public enum RedisState: Equatable, Sendable {
    /// Since when, and the latest reason.
    case away(since: MonotonicTime, RedisFault)
    /// The primary; in a cluster all primaries, by address. Other run ids than before mean that writes may have been lost.
    case connected([RedisServerIdentity])

    public var isConnected: Bool { if case .connected = self { true } else { false } }

    /// The run ids of the primaries, sorted; empty while away.
    public var runIDs: [String] {
        if case .connected(let servers) = self { servers.map(\.runID).sorted() } else { [] }
    }
}
