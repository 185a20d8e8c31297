import GatewayLogging
import Settings
import Sockets
import Wire

enum LogOutput {
    /// Standard error; readable text on a terminal unless the configuration says otherwise.
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

/// Which ways lead through the shared port.
enum SharedPortLine {
    /// - Parameter takesICE: whether there is a media port whose sessions' connections may come in there.
    static func log(_ bound: [BoundSocket], takesICE: Bool) {
        guard let address = bound.first?.localAddress else { return }
        Log.event(
            .info, "shared_port",
            ["listen": .address(address), "serves": .strings(["https", "rtmps"] + (takesICE ? ["ice"] : []))])
    }
}

/// What an operator should know right after the start, though everything serves.
enum StartupWarnings {
    /// One socket handed in for media leaves the other workers without.
    static func log(mediaSockets: Int, workers: Int) {
        guard mediaSockets == 1, workers > 1 else { return }
        Log.event(
            .warning, "single_media_socket",
            ["hint": "one worker has all WebRTC media: give one media socket for each worker, with ReusePort=yes"])
    }

    /// - Parameter isQuickstart: it makes a key of its own.
    static func log(_ configuration: StagedoorConfiguration, isQuickstart: Bool) {
        guard configuration.lacksAccessKeys, !isQuickstart else { return }
        Log.event(
            .warning, "no_access_keys",
            ["hint": "nobody can use the control API or the console: set accessKeys, or try things with --quickstart"])
    }

    /// - Parameter advertised: the addresses given to WebRTC clients; empty when WHIP is off.
    static func log(advertised: [SocketAddress]) {
        for warning in LibraryCheck.warnings { Log.event(.warning, "stock_libraries", ["hint": .string(warning)]) }
        let outside = advertised.map(\.ip).filter { !$0.isLoopback }
        guard !advertised.isEmpty, outside.allSatisfy(\.isPrivate) else { return }
        Log.event(
            .warning, "private_addresses_advertised",
            [
                "addresses": .strings(advertised.map(\.ip.description)),
                "hint": "WHIP works from this network only: set advertise.addresses to what encoders outside reach",
            ])
    }
}

extension StagedoorConfiguration {
    /// Whether every request of the control API has to be signed, and nobody has a key to do it with.
    var lacksAccessKeys: Bool { admin.listen.address != nil && admin.auth == .sigv4 && accessKeys.isEmpty }
}
