import GatewayLogging
import Settings
import Sockets
import Wire

/// What an operator should know right after the start, though everything serves.
enum StartupLog {
    /// Tells which protocols the shared port takes.
    /// - Parameter takesICE: whether there is a media port whose sessions' connections may come in there.
    static func sharedPort(_ bound: [BoundSocket], takesICE: Bool) {
        guard let address = bound.first?.localAddress else { return }
        Log.event(
            .info, "shared_port",
            ["listen": .address(address), "serves": .strings(["https", "rtmps"] + (takesICE ? ["ice"] : []))])
    }

    /// Warns where one socket was handed in for media, which leaves the other workers without.
    static func warn(mediaSockets: Int, workers: Int) {
        guard mediaSockets == 1, workers > 1 else { return }
        Log.event(
            .warning, "single_media_socket",
            ["hint": "one worker has all WebRTC media: give one media socket for each worker, with ReusePort=yes"])
    }

    /// Warns where nobody has an access key.
    /// - Parameter isQuickstart: it makes a key of its own.
    static func warn(_ configuration: StagedoorConfiguration, isQuickstart: Bool) {
        guard configuration.lacksAccessKeys, !isQuickstart else { return }
        Log.event(
            .warning, "no_access_keys",
            ["hint": "nobody can use the control API or the console: set accessKeys, or try things with --quickstart"])
    }

    /// Warns of stock libraries, and of addresses that lead to this network alone.
    /// - Parameter advertised: the addresses given to WebRTC clients; empty when WHIP is off.
    static func warn(advertised: [SocketAddress]) {
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
