internal import Glibc

public enum DataDirectoryError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Another process has the lock; its id where the lock file tells it.
    case heldBy(processID: Int?)
    /// Somebody else made the directory.
    case foreign(String, owner: UInt32)
    /// Everybody may write into it, and may have.
    case open(String)
    case link(String)
    case failed(String, errno: CInt)

    public var description: String {
        switch self {
        case .heldBy(let processID?): "the data directory is in use by process \(processID)"
        case .heldBy(nil): "the data directory is in use by another process"
        case .foreign(let path, let owner):
            "\(path) belongs to user \(owner), and this process runs as another: give it to this one (chown), or name another directory"
        case .open(let path):
            "everybody may write into \(path): look at what is in it, then chmod 700 it, or name another directory"
        case .link(let path): "\(path) is a link: name the directory that it leads to"
        case .failed(let step, let code): "cannot \(step): \(unsafe String(cString: strerror(code)))"
        }
    }
}
