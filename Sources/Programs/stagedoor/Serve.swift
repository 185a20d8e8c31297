import ArgumentParser
import Node

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
        Signals.beginStart()
        Descriptors.fillStandardOnes()
        Descriptors.raiseLimit()
        let source = ConfigurationSource(path: config, directory: data, isQuickstart: quickstart)
        let configuration = try source.read()
        let inheritance = takeOver ? try Inheritance.claim(configuration) : nil
        let node = try Node(configuration, source: source, inheritance: inheritance)
        try node.start()
        let signals = Signals(to: node)
        try node.serve()
        withExtendedLifetime(signals) {}
    }
}
