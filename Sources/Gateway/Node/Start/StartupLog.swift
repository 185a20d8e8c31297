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

    /// Warns where the kernel has less room for what arrives at the media port than was asked for: beyond it packets are lost
    /// before we see them.
    static func warn(receiveBufferOf media: BoundSocket?, wanted: ByteSize) {
        guard let media, let hint = receiveBufferHint(granted: media.receiveBufferBytes, wanted: wanted) else { return }
        Log.event(.warning, "receive_buffer_cut", ["hint": .string(hint)])
    }

    /// - Parameter granted: bytes, of which the kernel counts two for each that was asked for.
    /// - Returns: nil where all was granted.
    static func receiveBufferHint(granted: Int, wanted: ByteSize) -> String? {
        guard granted < 2 * wanted.bytes else { return nil }
        // It takes 2,304 of them for a packet of 1,200 bytes.
        return "UDP receive buffers are cut to \(granted >> 11) KiB, \(granted / 2_304) packets: "
            + "sysctl -w net.core.rmem_max=\(wanted.bytes) (needless with CAP_NET_ADMIN)"
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
