import DataDirectory
import Foundation
import OpenSSL
import Settings
import Wire

/// The key in `DIR/mountpoint.key` by which this gateway knows its mountpoints on Janus servers again.
enum MountpointKey {
    private static let byteCount = 32

    /// Of a platform's nodes all the same: a participant that moves to another node keeps its mountpoint.
    static func load(_ cluster: ClusterSettings, from directory: borrowing DataDirectory) throws -> Secret {
        guard cluster.isConfigured else { return try load(from: directory) }
        let platformKey = FileManager.default.contents(atPath: cluster.platformKeyFile) ?? Data()
        return Secret(HMAC.sha256(key: [UInt8](platformKey), Array("stagedoor mountpoints 1".utf8)))
    }

    /// Reads the key, or makes one on the first start.
    private static func load(from directory: borrowing DataDirectory) throws -> Secret {
        let name = "mountpoint.key"
        if let kept = FileManager.default.contents(atPath: "\(directory.path)/\(name)"), kept.count == byteCount {
            return Secret([UInt8](kept))
        }
        let key = Random.bytes(count: byteCount)
        try directory.write(key, to: name)
        return Secret(key)
    }
}
