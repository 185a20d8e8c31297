import Glibc

/// A file of the spool that only grows.
@safe final class SpoolFile {
    let path: String
    private let descriptor: CInt

    /// Makes a file, in place of one of that name.
    init(creating path: String) throws(SpoolError) {
        descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o644)
        self.path = path
        guard descriptor >= 0 else { throw SpoolError("create \(path)", errno) }
    }

    /// Goes on with a file at its end, or makes it.
    init(appendingTo path: String) throws(SpoolError) {
        descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0o600)
        self.path = path
        guard descriptor >= 0 else { throw SpoolError("open \(path)", errno) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    func append(_ bytes: [UInt8]) throws(SpoolError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw SpoolError("write \(path)", errno) }
            rest = rest.dropFirst(count)
        }
    }

    /// Returns when the bytes are on disk.
    func synchronise() throws(SpoolError) {
        guard fdatasync(descriptor) == 0 else { throw SpoolError("write \(path)", errno) }
    }

    /// Cuts off what stands behind the first `count` bytes.
    static func shorten(_ path: String, to count: Int) throws(SpoolError) {
        guard unsafe truncate(path, count) == 0 else { throw SpoolError("shorten \(path)", errno) }
    }

    static func byteCount(of path: String) -> Int? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? Int(status.st_size) : nil
    }

    /// Whether there is no such file: what cannot be looked at may be there.
    static func isGone(_ path: String) -> Bool { unsafe access(path, F_OK) != 0 && errno == ENOENT }

    static func remove(_ path: String) { _ = unsafe unlink(path) }

    /// Nobody else may have the lock; the kernel frees it however the process ends.
    func takeLock() -> Bool { flock(descriptor, LOCK_EX | LOCK_NB) == 0 }
}

/// What the file system refused.
struct SpoolError: Error, Equatable, CustomStringConvertible {
    let step: String
    let code: CInt

    init(_ step: String, _ code: CInt) { (self.step, self.code) = (step, code) }

    /// Another process has the file.
    var isHeld: Bool { code == EWOULDBLOCK }

    var description: String { "cannot \(step): \(unsafe String(cString: strerror(code)))" }
}
