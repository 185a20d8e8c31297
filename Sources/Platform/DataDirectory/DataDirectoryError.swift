internal import Glibc

public enum DataDirectoryError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Another process has the lock; its id where the lock file tells it.
    case heldBy(processID: Int?)
    case failed(String, errno: CInt)

    public var description: String {
        switch self {
        case .heldBy(let processID?): "the data directory is in use by process \(processID)"
        case .heldBy(nil): "the data directory is in use by another process"
        case .failed(let step, let code): "cannot \(step): \(unsafe String(cString: strerror(code)))"
        }
    }
}
