import ClusterStore
import OpenSSL
import Settings
import Wire

/// The key by which WHIP sessions' ids are bound to their tokens: whoever is asked for a session of another node, or of the process
/// before this one, has the same.
enum SessionKey {
    private static let byteCount = 32

    /// - Parameter inherited: of the process whose place is taken.
    static func load(_ cluster: ClusterSettings, inherited: [UInt8]?) throws -> Secret {
        guard cluster.isConfigured else { return Secret(inherited ?? Random.bytes(count: byteCount)) }
        return try PlatformKey(file: cluster.platformKeyFile).derived(for: "sessions")
    }
}
