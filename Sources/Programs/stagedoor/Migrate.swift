public import ArgumentParser
import ClusterStore
import Node
import Settings

/// Moves a platform between the files of one gateway and the servers of a cluster.
struct Migrate: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copies a platform from a data directory to the cluster's servers, or back.",
        discussion: "The servers are those of the configuration's `cluster` section. No gateway may run on either meanwhile.")

    @Option(name: .long, help: "The configuration file that has the cluster section.")
    var config: String
    @Option(name: .long, help: "files or cluster.")
    var from: Migration.Place
    @Option(name: .long, help: "files or cluster.")
    var to: Migration.Place
    @Option(name: .long, help: "The data directory (default: store.directory of the configuration).")
    var data: String?

    func validate() throws {
        guard from != to else { throw ValidationError("--from and --to are the same") }
    }

    func run() throws {
        let configuration = try ConfigurationSource(path: config, directory: data).read()
        guard configuration.cluster.isConfigured else { throw StartupError.cluster("\(config) has no cluster.redis") }
        let report = try Migration.run(configuration, from: from)
        print("\(report.records) records and \(report.history) entries of the history from \(from) to \(to)")
    }
}

extension Migration.Place: ExpressibleByArgument {}
