import ArgumentParser
import ClusterStore
import DataDirectory
import Foundation
import Node
import Redis
import Settings

/// Moves a platform between the files of one gateway and the servers of a cluster.
struct Migrate: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copies a platform from a data directory to the cluster's servers, or back.",
        discussion: "The servers are those of the configuration's `cluster` section. No gateway may run on either meanwhile.")

    enum Place: String, ExpressibleByArgument { case files, cluster }

    @Option(name: .long, help: "The configuration file that has the cluster section.")
    var config: String
    @Option(name: .long, help: "files or cluster.")
    var from: Place
    @Option(name: .long, help: "files or cluster.")
    var to: Place
    @Option(name: .long, help: "The data directory (default: store.directory of the configuration).")
    var data: String?

    func validate() throws {
        guard from != to else { throw ValidationError("--from and --to are the same") }
    }

    func run() throws {
        let configuration = try ConfigurationFile.load(config)
        guard configuration.cluster.isConfigured else { throw StartupError.cluster("\(config) has no cluster.redis") }
        let path = data ?? configuration.store.directory
        // Nobody else may run on the files: the lock is held until the end.
        let directory = try DataDirectory(at: path)
        let migration = StoreMigration(
            RedisStoreSettings(
                redis: try RedisSettings(configuration.cluster, node: "migration"),
                platformKey: try PlatformKey(file: configuration.cluster.platformKeyFile), node: "migration",
                cluster: configuration.cluster, events: configuration.events))
        let report =
            from == .files
            ? try migration.importFiles(of: directory.path) : try migration.exportFiles(to: directory.path)
        print("\(report.records) records and \(report.history) entries of the history from \(from) to \(to)")
    }
}
