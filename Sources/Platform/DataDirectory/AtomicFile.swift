internal import CShim
internal import Glibc

/// Writes a whole file beside its place, then renames it there: mode 0600, never half.
public enum AtomicFile {
    /// Returns when the bytes are on disk under that name, so that no loss of power takes them.
    public static func write(_ bytes: [UInt8], to path: String) throws(DataDirectoryError) {
        try write(bytes, to: path) { fsync($0) }
    }

    /// - Parameter synchronise: fsync(2), which tests look at.
    static func write(_ bytes: [UInt8], to path: String, synchronise: (CInt) -> CInt) throws(DataDirectoryError) {
        let draft = draft(of: path)
        try fill(draft, with: bytes, synchronise)
        try rename(draft, to: path)
        try synchroniseFolder(of: path, synchronise)
    }

    /// Forces the folder of a file to disk: the file's name is written there, not in the file.
    static func synchroniseFolder(of path: String, _ synchronise: (CInt) -> CInt = { fsync($0) }) throws(DataDirectoryError) {
        let parent = path.lastIndex(of: "/").map { path[..<$0] } ?? "."
        let folder = parent.isEmpty ? "/" : String(parent)
        let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .failed("open \(folder)", errno: errno) }
        defer { close(descriptor) }
        // EINVAL: of file systems that keep no folders to be synchronised.
        guard synchronise(descriptor) == 0 || errno == EINVAL else { throw .failed("write \(folder)", errno: errno) }
    }

    /// For what every session writes and every start makes anew: nobody waits for the disk, and the file that was there becomes
    /// the next one's draft, because making and deleting a file takes a file system ten times as long as writing one.
    ///
    /// Whoever opened the former file should have read it by then.
    public static func exchange(_ bytes: [UInt8], at path: String) throws(DataDirectoryError) {
        let draft = draft(of: path)
        try fill(draft, with: bytes) { _ in 0 }
        // The first time there is nothing to exchange it for, and some file systems cannot.
        if unsafe shim_exchange_files(draft, path) != 0 { try rename(draft, to: path) }
    }

    /// The whole file; nil where there is none.
    static func read(_ path: String) throws(DataDirectoryError) -> [UInt8]? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0, errno == ENOENT { return nil }
        guard descriptor >= 0 else { throw .failed("open \(path)", errno: errno) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = unsafe Glibc.read(descriptor, &part, part.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .failed("read \(path)", errno: errno) }
            guard count > 0 else { return bytes }
            bytes += part[..<count]
        }
    }

    private static func draft(of path: String) -> String { path + ".new" }

    private static func rename(_ draft: String, to path: String) throws(DataDirectoryError) {
        guard unsafe Glibc.rename(draft, path) == 0 else { throw .failed("rename to \(path)", errno: errno) }
    }

    private static func fill(_ path: String, with bytes: [UInt8], _ synchronise: (CInt) -> CInt) throws(DataDirectoryError) {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .failed("open \(path)", errno: errno) }
        defer { close(descriptor) }
        if let failure = write(bytes, to: descriptor) { throw .failed("write \(path)", errno: failure) }
        guard synchronise(descriptor) == 0 else { throw .failed("write \(path)", errno: errno) }
    }

    /// Answers the errno of the step that failed, nil when the file holds these bytes and no others.
    private static func write(_ bytes: [UInt8], to descriptor: CInt) -> CInt? {
        guard fchmod(descriptor, 0o600) == 0 else { return errno }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return errno }
            rest = rest.dropFirst(count)
        }
        return ftruncate(descriptor, bytes.count) == 0 ? nil : errno
    }
}
