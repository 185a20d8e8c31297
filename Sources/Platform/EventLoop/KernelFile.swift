import Glibc

/// Small files that the kernel makes as they are read: `/proc`, `/sys`.
public enum KernelFile {
    /// The file's text, however many reads the kernel takes for it; nil where there is none that may be read.
    /// - Parameter maximumBytes: what follows them is left out.
    public static func text(of path: String, maximumBytes: Int = 65_536) -> String? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: min(maximumBytes, Self.page))
        while bytes.count < maximumBytes {
            let count = unsafe read(descriptor, &part, part.count)
            if count <= 0 { break }
            bytes += part.prefix(min(count, maximumBytes - bytes.count))
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// In bytes: most files are shorter, and of longer ones a read gives no more.
    private static let page = 4_096
}
