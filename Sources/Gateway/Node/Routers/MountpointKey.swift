import DataDirectory
import OpenSSL
import Wire

/// The key in `DIR/mountpoint.key` by which this gateway knows its mountpoints on Janus servers again.
enum MountpointKey {
    /// Reads the key, or makes one on the first start.
    static func load(from directory: borrowing DataDirectory) throws(DataDirectoryError) -> Secret {
        let name = "mountpoint.key"
        if let kept = try directory.read(name), kept.count == byteCount { return Secret(kept) }
        let key = Random.bytes(count: byteCount)
        try directory.write(key, to: name)
        return Secret(key)
    }

    private static let byteCount = 32
}
