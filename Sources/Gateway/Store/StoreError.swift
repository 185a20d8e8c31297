/// Why the store could not do what was asked.
public enum StoreError: Error, Equatable, Sendable, CustomStringConvertible {
    case cannotOpen(path: String, reason: String)
    /// The queue of waiting requests is full.
    case overloaded
    case closed
    /// The platform's database does not answer for now. Whether it kept a write under way is not known.
    case away
    /// SQLite refused, for example because the disk is full; nothing of the request was kept.
    case failed(reason: String)

    public var description: String {
        switch self {
        case .cannotOpen(let path, let reason): "cannot open \(path): \(reason)"
        case .overloaded: "too many requests wait for the store"
        case .closed: "the store is closed"
        case .away: "the cluster's database does not answer"
        case .failed(let reason): "the store failed: \(reason)"
        }
    }
}
