public import ClusterStore
import DataDirectory
import Foundation
import Redis
public import Settings

/// Copies a platform between the files of one gateway and the servers of its cluster. No gateway runs on either meanwhile.
public enum Migration {
    public enum Place: String, Sendable { case files, cluster }

    /// - Parameters:
    ///   - configuration: one with a cluster.
    ///   - source: where it is copied from; to the other place.
    /// - Throws: `StartupError.cluster` when a file of keys or certificates cannot be used, or there is nothing to copy.
    public static func run(_ configuration: StagedoorConfiguration, from source: Place) throws -> StoreMigration.Report {
        let path = configuration.store.directory
        guard source != .files || FileManager.default.fileExists(atPath: path + "/configuration.sqlite") else {
            throw StartupError.cluster("\(path) has no configuration.sqlite: name the gateway's data directory with --data")
        }
        // Nobody else may run on the files: the lock is held until the end.
        let directory = try DataDirectory(at: path)
        let migration = StoreMigration(try RedisStoreSettings(configuration, node: "migration"))
        return switch source {
        case .files: try migration.importFiles(of: directory.path)
        case .cluster: try migration.exportFiles(to: directory.path)
        }
    }
}

extension RedisStoreSettings {
    /// - Parameter node: the name by which the servers and the other nodes know us.
    init(_ configuration: StagedoorConfiguration, node: String) throws(StartupError) {
        self.init(
            redis: try RedisSettings(configuration.cluster, node: node),
            platformKey: try PlatformKey(file: configuration.cluster.platformKeyFile), node: node,
            cluster: configuration.cluster, events: configuration.events)
    }
}
