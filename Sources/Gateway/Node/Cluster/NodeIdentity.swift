import ClusterStore
import DataDirectory
import Foundation
import OpenSSL
import Settings
import Wire

/// The name of a node among those of its cluster, which stands in the ids of WHIP sessions.
enum NodeName {
    /// The operator's, or else one that is made at the first start and kept in `DIR/node`.
    static func load(_ configured: String, from directory: borrowing DataDirectory) throws(DataDirectoryError) -> String {
        if !configured.isEmpty { return configured }
        let name = "node"
        if let kept = try directory.read(name), isName(kept) { return String(decoding: kept, as: UTF8.self) }
        let made = "n" + String(hexadecimal: Random.bytes(count: 6))
        try directory.write(Array(made.utf8), to: name)
        return made
    }

    private static func isName(_ bytes: [UInt8]) -> Bool {
        (1...32).contains(bytes.count) && bytes.allSatisfy { (48...57).contains($0) || (97...122).contains($0) }
    }

    static let ofOneAlone = "n1"
}

/// The key by which WHIP sessions' ids are bound to their tokens: whoever is asked for a session of another node, or of the
/// process before this one, has the same.
enum SessionKey {
    /// - Parameter inherited: of the process whose place is taken.
    static func load(_ cluster: ClusterSettings, inherited: [UInt8]?) throws(StartupError) -> Secret {
        guard cluster.isConfigured else { return Secret(inherited ?? Random.bytes(count: byteCount)) }
        return try PlatformKey(file: cluster.platformKeyFile).derived(for: "sessions")
    }

    private static let byteCount = 32
}

extension PlatformKey {
    /// Reads the key that all nodes have.
    init(file: String) throws(StartupError) {
        guard let bytes = FileManager.default.contents(atPath: file) else {
            throw .cluster("cluster.platformKeyFile: \(file) cannot be read")
        }
        guard let key = PlatformKey(Secret([UInt8](bytes))) else {
            throw .cluster(
                "cluster.platformKeyFile: \(file) has \(bytes.count) bytes: `openssl rand -out \(file) \(PlatformKey.byteCount)` makes one"
            )
        }
        self = key
    }
}
