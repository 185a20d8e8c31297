import Foundation
import GatewayConfiguration
public import Settings

public enum ConfigurationFile {
    /// The file, the environment over it, the defaults below it.
    public static func load(_ path: String?) throws -> StagedoorConfiguration {
        let environment = ProcessInfo.processInfo.environment
        guard let path else { return try ConfigurationLoader.load(yaml: nil, environment: environment) }
        return try ConfigurationLoader.load(path: path, environment: environment)
    }
}
