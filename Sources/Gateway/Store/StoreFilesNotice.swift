/// Something about the store's files that operators want to know.
public enum StoreFilesNotice: Equatable, Sendable {
    /// The history's file takes nothing; what is to be written waits.
    case away(reason: String)
    /// What waited is written.
    case back
    /// This many writes are in no history.
    case lost(Int, reason: String)
    /// What is past its retention could not be deleted, and stays for another hour.
    case notSwept(reason: String)
    /// A change of the configuration failed for whoever asked for it, and is not in force.
    case notChanged(reason: String)
}
