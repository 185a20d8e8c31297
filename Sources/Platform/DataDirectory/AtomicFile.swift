internal import CShim
internal import Glibc

/// Writes a whole file beside its place, then renames it there: mode 0600, never half.
public enum AtomicFile {
    /// Returns when the bytes are on disk, so that no loss of power takes them.
    public static func write(_ bytes: [UInt8], to path: String) throws(DataDirectoryError) {
        let draft = draft(of: path)
        try fill(draft, with: bytes, isDurable: true)
        try rename(draft, to: path)
    }

    /// For what every session writes and every start makes anew: nobody waits for the disk, and the file that was there becomes
    /// the next one's draft, because making and deleting a file takes a file system ten times as long as writing one.
    ///
    /// Whoever opened the former file should have read it by then.
    public static func exchange(_ bytes: [UInt8], at path: String) throws(DataDirectoryError) {
        let draft = draft(of: path)
        try fill(draft, with: bytes, isDurable: false)
        // The first time there is nothing to exchange it for, and some file systems cannot.
        if unsafe shim_exchange_files(draft, path) != 0 { try rename(draft, to: path) }
    }

    private static func draft(of path: String) -> String { path + ".new" }

    private static func rename(_ draft: String, to path: String) throws(DataDirectoryError) {
        guard unsafe Glibc.rename(draft, path) == 0 else { throw .failed("rename to \(path)", errno: errno) }
    }

    private static func fill(_ path: String, with bytes: [UInt8], isDurable: Bool) throws(DataDirectoryError) {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .failed("open \(path)", errno: errno) }
        defer { close(descriptor) }
        if let failure = write(bytes, to: descriptor) ?? (isDurable ? synchronise(descriptor) : nil) {
            throw .failed("write \(path)", errno: failure)
        }
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

    private static func synchronise(_ descriptor: CInt) -> CInt? { fsync(descriptor) == 0 ? nil : errno }
}
