/// Something about the platform's database that operators want to know.
public enum ClusterStoreNotice: Equatable, Sendable, CustomStringConvertible {
    /// Writes are refused until it is back; what is in memory stays good.
    case away(reason: String)
    case back
    /// All records were read, because what changed meanwhile cannot be told.
    case reloaded(records: Int)
    /// A record of another version of this program, or of another platform key: it counts as absent.
    case unreadable(key: String)
    /// A write stands that no replica had within a second: a failover at that moment would have lost it. How many so far.
    case notReplicated(total: Int)
    /// History waits in the local queue, for the database refused it.
    case historyRefused(reason: String)

    public var description: String {
        switch self {
        case .away(let reason): "the cluster's database is away: \(reason)"
        case .back: "the cluster's database is back"
        case .reloaded(let records): "read all \(records) records of the cluster's database"
        case .unreadable(let key): "cannot understand the record \(key)"
        case .notReplicated(let total): "no replica had a write within a second, \(total) so far"
        case .historyRefused(let reason): "the cluster's database refused history, which waits: \(reason)"
        }
    }
}

/// What the store of a cluster has done so far.
public struct ClusterStoreStatistics: Equatable, Sendable {
    public var isAway = true
    public var records = 0
    public var transactions = 0
    /// Transactions that were run again because another node was faster.
    public var conflicts = 0
    /// Writes that no replica had within a second: a failover at that moment would have lost them.
    public var replicaMisses = 0
    public var reloads = 0
    /// History forwarded to the database.
    public var forwarded = 0
}
