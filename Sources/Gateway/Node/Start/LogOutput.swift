import GatewayLogging
import Settings

/// Where the log goes.
enum LogOutput {
    /// To standard error: readable text on a terminal, JSON elsewhere, unless the configuration says otherwise.
    static func start(_ settings: LoggingSettings) throws {
        let format: LogFormat? =
            switch settings.format {
            case .auto: nil
            case .json: .json
            case .text: .text
            }
        try Log.start(level: LogLevel(name: settings.level.rawValue) ?? .info, format: format)
    }
}
