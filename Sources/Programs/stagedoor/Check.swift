import ArgumentParser
import GatewayConfiguration
import Node
import Settings

/// Reads and validates a configuration and prints what would be in force, secrets left out.
struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Checks a configuration file and prints what is in force.",
        discussion:
            "Reads STAGEDOOR_ variables as the gateway does. Fails with everything that is wrong; files and ports are the doctor's."
    )

    @Option(name: .long, help: "The configuration file; embedded defaults without it.")
    var config: String?

    func run() throws { print(try ConfigurationSource(path: config).read().effectiveFile, terminator: "") }
}
