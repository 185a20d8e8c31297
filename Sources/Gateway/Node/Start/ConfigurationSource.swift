import Foundation
public import GatewayConfiguration
public import Settings

/// Where the configuration comes from, at the start and at every reload.
public struct ConfigurationSource {
    /// The file; nil for the defaults and the environment alone.
    let path: String?
    /// The data directory of the command line, which wins.
    let directory: String?
    let isQuickstart: Bool

    public init(path: String?, directory: String? = nil, isQuickstart: Bool = false) {
        (self.path, self.directory, self.isQuickstart) = (path, directory, isQuickstart)
    }

    /// Reads the file anew: the environment wins over it, and defaults stand for what neither says.
    public func read() throws(ConfigurationError) -> StagedoorConfiguration {
        var configuration = try readFile()
        if let directory { configuration.store.directory = directory }
        if isQuickstart { QuickstartDefaults.apply(to: &configuration) }
        return configuration
    }

    private func readFile() throws(ConfigurationError) -> StagedoorConfiguration {
        let environment = ProcessInfo.processInfo.environment
        guard let path else { return try ConfigurationLoader.load(yaml: nil, environment: environment) }
        return try ConfigurationLoader.load(path: path, environment: environment)
    }
}
