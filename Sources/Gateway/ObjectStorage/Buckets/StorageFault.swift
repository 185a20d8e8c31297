import Foundation

/// Why a bucket did not take an object.
public enum StorageFault: Error, Equatable, Sendable {
    /// It may take it later: nobody answers, or the store has too much to do.
    case transient(String)
    /// It will not as things are: no such bucket, no right to write, a key that does not exist.
    case refused(String)

    /// In words for an operator.
    public var words: String {
        switch self {
        case .transient(let words), .refused(let words): words
        }
    }

    var isRefusal: Bool {
        switch self {
        case .transient: false
        case .refused: true
        }
    }

    /// What the system refused just now. A disk that is full may be emptied, one that fails may be mounted anew, descriptors that
    /// are all in use come back; who may not write will not.
    static func system(_ step: String, _ path: String, _ code: CInt = errno) -> StorageFault {
        let words = unsafe "cannot \(step) \(path): \(String(cString: strerror(code)))"
        return [EACCES, EPERM, EROFS, ENOENT, ENOTDIR, ENAMETOOLONG].contains(code) ? .refused(words) : .transient(words)
    }
}
