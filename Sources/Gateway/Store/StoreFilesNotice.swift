/// Something about the store's files that operators want to know.
public enum StoreFilesNotice: Equatable, Sendable {
    /// The history's takes nothing; what is to be written waits.
    case away(reason: String)
    /// What waited is written.
    case back
    /// So many writes are in no history.
    case lost(Int, reason: String)
    /// What is older than it is kept for stays for an hour more.
    case notSwept(reason: String)
    /// A change of the configuration failed for whoever asked for it, and is not in force.
    case notChanged(reason: String)
}
