/// Why a bucket did not take an object.
public enum StorageFault: Error, Equatable, Sendable {
    /// It may take it later: nobody answers, or the store has too much to do.
    case transient(String)
    /// It will not, however often it is asked: no such bucket, no right to write, a key that does not exist.
    case final(String)

    /// In words for an operator.
    public var words: String {
        switch self {
        case .transient(let words), .final(let words): words
        }
    }
}
