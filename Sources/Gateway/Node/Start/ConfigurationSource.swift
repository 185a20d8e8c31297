import Foundation
import GatewayConfiguration
public import Settings

/// Where the configuration comes from, at the start and at every reload.
public struct ConfigurationSource {
    let path: String?
    /// The data directory of the command line, which wins.
    let directory: String?
    let isQuickstart: Bool

    public init(path: String?, directory: String?, isQuickstart: Bool) {
        (self.path, self.directory, self.isQuickstart) = (path, directory, isQuickstart)
    }

    public func read() throws -> StagedoorConfiguration {
        var configuration = try ConfigurationFile.load(path)
        if let directory { configuration.store.directory = directory }
        if isQuickstart { QuickstartDefaults.apply(to: &configuration) }
        return configuration
    }
}

/// What quickstart sets: pages to try things with, and a bucket for recordings.
enum QuickstartDefaults {
    static func apply(to configuration: inout StagedoorConfiguration) {
        configuration.watch.publishPage = true
        if configuration.storage.isEmpty {
            let data = URL(filePath: configuration.store.directory, directoryHint: .isDirectory)
            configuration.storage["recordings"] = StorageSettings(directory: data.absoluteURL.appending(path: "recordings").path)
        }
        // Ctrl-C is to be the end, not the beginning of half an hour.
        if configuration.drain == DrainSettings() {
            (configuration.drain.grace, configuration.drain.timeout) = (.zero, .zero)
            configuration.drain.closesPerSecond = 10_000
        }
    }
}

/// Reads a configuration for commands that run no node.
public enum ConfigurationFile {
    /// Reads the file; variables of the environment win over it, and defaults stand for what neither says.
    /// - Parameter path: nil for the defaults and the environment alone.
    public static func load(_ path: String?) throws -> StagedoorConfiguration {
        let environment = ProcessInfo.processInfo.environment
        guard let path else { return try ConfigurationLoader.load(yaml: nil, environment: environment) }
        return try ConfigurationLoader.load(path: path, environment: environment)
    }
}
