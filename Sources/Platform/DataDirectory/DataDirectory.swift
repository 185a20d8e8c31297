internal import Glibc

/// The directory that one running Stagedoor owns: mode 0700, locked, its files 0600 and replaced atomically.
///
/// It is ours: nobody else made it, could write into it, or led us to it by a link; otherwise opening it fails.
///
///     let directory = try DataDirectory(at: "/var/lib/stagedoor")
///     try directory.write(bytes, to: "identity.pem")
///
/// The lock is a flock(2) on `lock`, held as long as this value lives, and freed by the kernel however the process ends.
@safe public struct DataDirectory: ~Copyable, Sendable {
    /// As it was given; files are found at `path + "/" + name`.
    public let path: String
    private let lockDescriptor: CInt

    /// Creates the directory if it is missing and takes its lock.
    /// - Throws: `.heldBy` with the holder's process id when another Stagedoor runs on it, `.foreign`, `.open` and `.link` for a
    ///   directory that is not safe, `.failed` for what the system refuses.
    public init(at path: String) throws(DataDirectoryError) {
        try Self.makeDirectory(path)
        // Whose folder it is in may not let us: then it is on disk in its time.
        try? AtomicFile.synchroniseFolder(of: path)
        lockDescriptor = try Self.takeLock(path + "/lock")
        self.path = path
    }

    /// Goes on with the directory of a process that hands over its lock: both hold it until one ends.
    /// - Parameter lock: an open descriptor of its lock file, which is duplicated.
    public init(at path: String, sharing lock: CInt) throws(DataDirectoryError) {
        try Self.makeDirectory(path)
        lockDescriptor = try Self.share(lock, path + "/lock")
        self.path = path
    }

    deinit { close(lockDescriptor) }

    /// Another descriptor of the lock, to hand over; -1 when the system has none.
    public func duplicateLock() -> CInt { fcntl(lockDescriptor, F_DUPFD_CLOEXEC, 0) }

    /// Writes our process id into the lock file, for whoever finds it taken.
    public func tellHolder() throws(DataDirectoryError) { try Self.writeHolder(lockDescriptor, path + "/lock") }

    /// Creates a folder inside, mode 0700.
    public func makeFolder(_ name: String) throws(DataDirectoryError) {
        try Self.makeDirectory(path + "/" + name)
        // Else it may be gone with what is written into it.
        try AtomicFile.synchroniseFolder(of: path + "/" + name)
    }

    /// Replaces `name` by `bytes`: readers see the old file or the new one, never a part. Mode 0600.
    public func write(_ bytes: [UInt8], to name: String) throws(DataDirectoryError) {
        try AtomicFile.write(bytes, to: path + "/" + name)
    }

    /// The whole file; nil where there is none.
    /// - Throws: where it is there and cannot be read: another one in its place would lose what it holds.
    public func read(_ name: String) throws(DataDirectoryError) -> [UInt8]? { try AtomicFile.read(path + "/" + name) }

    private static func makeDirectory(_ path: String) throws(DataDirectoryError) {
        guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .failed("create \(path)", errno: errno) }
        // A slash at the end would have a link followed.
        let name = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        let descriptor = unsafe open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw isLink(name) ? .link(name) : .failed("open \(name)", errno: errno)
        }
        defer { close(descriptor) }
        try restrict(descriptor, name)
    }

    /// What others could write into until now may hold what they put there: that is for the operator to look at.
    private static func restrict(_ descriptor: CInt, _ path: String) throws(DataDirectoryError) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw .failed("look at \(path)", errno: errno) }
        guard status.st_uid == geteuid() else { throw .foreign(path, owner: status.st_uid) }
        guard status.st_mode & S_IWOTH == 0 else { throw .open(path) }
        guard fchmod(descriptor, 0o700) == 0 else { throw .failed("restrict \(path)", errno: errno) }
    }

    private static func isLink(_ path: String) -> Bool {
        let code = errno
        defer { errno = code }
        var status = stat()
        return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    private static func takeLock(_ path: String) throws(DataDirectoryError) -> CInt {
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .failed("open \(path)", errno: errno) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let holder = readHolder(descriptor)
            close(descriptor)
            throw .heldBy(processID: holder)
        }
        do throws(DataDirectoryError) {
            try writeHolder(descriptor, path)
        } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }

    private static func share(_ lock: CInt, _ path: String) throws(DataDirectoryError) -> CInt {
        let descriptor = fcntl(lock, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { throw .failed("share \(path)", errno: errno) }
        return descriptor
    }

    private static func writeHolder(_ descriptor: CInt, _ path: String) throws(DataDirectoryError) {
        let text = Array("\(getpid())\n".utf8)
        guard ftruncate(descriptor, 0) == 0, unsafe pwrite(descriptor, text, text.count, 0) == text.count else {
            throw .failed("write \(path)", errno: errno)
        }
    }

    /// The process id that the holder wrote into the lock file; nil when there is none to read.
    private static func readHolder(_ descriptor: CInt) -> Int? {
        var text = [UInt8](repeating: 0, count: 32)
        let count = unsafe pread(descriptor, &text, text.count, 0)
        guard count > 0 else { return nil }
        return Int(String(decoding: text[..<count].prefix { $0 != 10 }, as: UTF8.self))
    }
}

/// Why the directory, or a file in it, cannot be used. Prints as a sentence for the operator.
public enum DataDirectoryError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Another process has the lock; its id where the lock file holds it.
    case heldBy(processID: Int?)
    /// Somebody else made the directory.
    case foreign(String, owner: UInt32)
    /// Everybody may write into it, and may have.
    case open(String)
    /// A link stands in its place, which somebody may turn elsewhere.
    case link(String)
    /// The system refused that step.
    case failed(String, errno: CInt)

    /// What is wrong, and what may be done about it.
    public var description: String {
        switch self {
        case .heldBy(let processID?): "the data directory is in use by process \(processID)"
        case .heldBy(nil): "the data directory is in use by another process"
        case .foreign(let path, let owner):
            "\(path) belongs to user \(owner), and this process runs as another: give it to this one (chown), or name a folder in it"
        case .open(let path):
            "everybody may write into \(path): look at what is in it, then chmod 700 it, or name another directory"
        case .link(let path): "\(path) is a link: name the directory that it leads to"
        case .failed(let step, let code): "cannot \(step): \(unsafe String(cString: strerror(code)))"
        }
    }
}
