import ArgumentParser
import Foundation
import GatewayConfiguration

/// Runs the gateway until SIGTERM.
struct Serve: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Runs the gateway.")

    @Option(name: .long, help: "The configuration file; embedded defaults without it.")
    var config: String?
    @Flag(name: .long, help: "A stage, an ingest configuration and a token to try things with; prints lines to copy.")
    var quickstart = false
    @Option(name: .long, help: "The data directory (default: store.directory of the configuration).")
    var data: String?

    func run() throws {
        var configuration = try ConfigurationFile.load(config)
        if let data { configuration.store.directory = data }
        if quickstart { QuickstartDefaults.apply(to: &configuration) }
        let node = try Node(configuration, isQuickstart: quickstart)
        try node.run()
    }
}

/// What quickstart sets where the operator said nothing: pages to try things with, media also for a local receiver.
enum QuickstartDefaults {
    static func apply(to configuration: inout StagedoorConfiguration) {
        configuration.watch.hasPublishPage = true
        guard configuration.routers == StagedoorConfiguration().routers else { return }
        var local = RouterSettings()
        local.driver = .static
        local.host = "127.0.0.1"
        configuration.routers["local"] = local
    }
}
