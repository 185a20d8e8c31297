internal import Glibc

/// Writes a whole file beside its place, then renames it there: mode 0600, never half.
public enum AtomicFile {
    public static func write(_ bytes: [UInt8], to path: String) throws(DataDirectoryError) {
        let draft = path + ".new"
        let descriptor = unsafe open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .failed("open \(draft)", errno: errno) }
        let failure = fill(descriptor, with: bytes)
        close(descriptor)
        if let failure { throw .failed("write \(draft)", errno: failure) }
        guard unsafe rename(draft, path) == 0 else { throw .failed("rename to \(path)", errno: errno) }
    }

    /// Answers the errno of the step that failed, nil when all is on disk.
    private static func fill(_ descriptor: CInt, with bytes: [UInt8]) -> CInt? {
        guard fchmod(descriptor, 0o600) == 0 else { return errno }
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes {
                unsafe Glibc.write(descriptor, $0.baseAddress! + written, bytes.count - written)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return errno }
            written += count
        }
        return fsync(descriptor) == 0 ? nil : errno
    }
}
