import EventLoop
import GatewayConfiguration
import Sockets
import Wire

/// Every socket of the node, bound before any is read (DESIGN 4): one of each kind per worker.
struct Listeners {
    var publicHTTP: [BoundSocket] = []
    var publicHTTPS: [BoundSocket] = []
    var rtmp: [BoundSocket] = []
    var media: [BoundSocket] = []
    var mediaTCP: [BoundSocket] = []
    var admin: BoundSocket?

    init(_ configuration: StagedoorConfiguration, workers: Int) throws {
        publicHTTP = try Self.group(.tcp, configuration.http.listen, "http.listen", workers)
        publicHTTPS = try Self.group(.tcp, configuration.https.listen, "https.listen", workers)
        rtmp = try Self.group(.tcp, configuration.rtmp.listen, "rtmp.listen", workers)
        (media, mediaTCP) = try Self.mediaGroups(configuration.media, workers)
        admin = try Self.group(.tcp, configuration.admin.listen, "admin.listen", 1).first
    }

    /// Every address we listen on: no router may send its media's answer there.
    var addresses: Set<SocketAddress> {
        Set((publicHTTP + publicHTTPS + rtmp + media + mediaTCP + (admin.map { [$0] } ?? [])).map(\.localAddress))
    }

    /// UDP and TCP of one number. A port that the kernel chose for UDP may be taken for TCP: then another one is asked for.
    private static func mediaGroups(_ settings: MediaSettings, _ count: Int) throws -> ([BoundSocket], [BoundSocket]) {
        var attemptsLeft = settings.listen.address?.port == 0 ? 16 : 1
        while true {
            attemptsLeft -= 1
            let media = try group(.udp, settings.listen, "media.listen", count)
            guard settings.tcp, let local = media.first?.localAddress else { return (media, []) }
            do {
                return (media, try group(.tcp, ListenAddress(local), "media.listen", count))
            } catch  where attemptsLeft > 0 {
                continue
            }
        }
    }

    private static func group(
        _ transport: BoundSocket.Transport, _ listen: ListenAddress, _ key: String, _ count: Int
    ) throws -> [BoundSocket] {
        guard let address = listen.address else { return [] }
        do {
            return try BoundSocket.group(transport, address, count: count)
        } catch {
            throw StartupError.cannotListen(key: key, address: address, transport: transport, reason: error)
        }
    }
}
