import ArgumentParser
import Foundation
import GatewayConfiguration
import Wire

/// Runs the gateway until SIGTERM.
struct Serve: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Runs the gateway.")

    @Option(name: .long, help: "The configuration file; embedded defaults without it.")
    var config: String?
    @Flag(name: .long, help: "A stage, an ingest configuration and a token to try things with; prints lines to copy.")
    var quickstart = false
    @Option(name: .long, help: "The data directory (default: store.directory of the configuration).")
    var data: String?
    @Flag(name: .long, help: "Take the place of the process that runs on the data directory; its streams are not cut.")
    var takeOver = false

    func run() throws {
        let source = ConfigurationSource(path: config, directory: data, isQuickstart: quickstart)
        let configuration = try source.read()
        guard !takeOver || !configuration.cluster.isConfigured else {
            throw StartupError.cluster(
                "--take-over is not for a node of a cluster: drain it (SIGTERM), the other nodes serve meanwhile")
        }
        let inheritance = takeOver ? try Inheritance.claim(in: configuration.store.directory) : nil
        let node = try Node(configuration, source: source, inheritance: inheritance)
        try node.run()
    }
}

/// Where the configuration comes from, at the start and at every reload.
struct ConfigurationSource {
    var path: String?
    /// The data directory of the command line, which wins.
    var directory: String?
    var isQuickstart: Bool

    func read() throws -> StagedoorConfiguration {
        var configuration = try ConfigurationFile.load(path)
        if let directory { configuration.store.directory = directory }
        if isQuickstart { QuickstartDefaults.apply(to: &configuration) }
        return configuration
    }
}

/// What quickstart sets: pages to try things with.
enum QuickstartDefaults {
    static func apply(to configuration: inout StagedoorConfiguration) {
        configuration.watch.hasPublishPage = true
        // Ctrl-C is to be the end, not the beginning of half an hour.
        if configuration.drain == DrainSettings() {
            (configuration.drain.grace, configuration.drain.timeout) = (.zero, .zero)
            configuration.drain.closesPerSecond = 10_000
        }
    }
}
