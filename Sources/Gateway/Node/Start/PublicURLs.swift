import JSON
import Settings
import Sockets
import Store
import Wire

extension StageEndpoints {
    /// What stages hand out: the operator's URLs, or what this node is reached at.
    init(_ configuration: StagedoorConfiguration, listeners: Listeners) {
        let settings = configuration.endpoints
        let (web, isSecure) = listeners.web(configuration)
        let rtmp = listeners.rtmp.first?.localAddress
        let shared = listeners.sharedAddress(configuration.advertise)
        func url(_ given: String, _ scheme: String, _ address: SocketAddress?, _ path: String) -> String {
            if !given.isEmpty { return given }
            guard let address else { return "" }
            return "\(scheme)://\(Self.host(configuration, address)):\(address.port)\(path)"
        }
        self.init(
            events: url(settings.events, isSecure ? "wss" : "ws", web, "/events"),
            whip: url(settings.whip, isSecure ? "https" : "http", web, "/whip"),
            rtmp: url(settings.rtmp, "rtmp", rtmp, "/app/"), rtmps: url(settings.rtmps, "rtmps", shared ?? rtmp, "/app/"))
    }

    /// `advertise.host`, else the bound address; of a listener on all addresses the first that is advertised by itself, else
    /// loopback, where it is reached from this machine. As URLs say it.
    static func host(_ configuration: StagedoorConfiguration, _ address: SocketAddress) -> String {
        let settings = configuration.advertise
        let given = address.ip.isUnspecified ? settings.publicName : settings.host
        guard let ip = given.isEmpty ? address.ip : IPAddress(given) else { return given }
        if ip.isUnspecified { return "127.0.0.1" }
        return ip.isV4 ? ip.description : "[\(ip)]"
    }
}

extension Listeners {
    /// The shared port as clients reach it.
    func sharedAddress(_ settings: AdvertiseSettings) -> SocketAddress? {
        shared.first.map(\.localAddress).map {
            SocketAddress($0.ip, port: settings.sharedPort > 0 ? UInt16(settings.sharedPort) : $0.port)
        }
    }

    /// Where public HTTP is reached, and whether by TLS: as soon as there is a certificate that clients trust, or nothing else.
    /// Of two listeners with TLS it is the shared one, which more networks let out to.
    func web(_ configuration: StagedoorConfiguration) -> (address: SocketAddress?, isSecure: Bool) {
        let shared = sharedAddress(configuration.advertise)
        if !configuration.tls.certificate.isEmpty { return (shared ?? publicHTTPS.first?.localAddress, true) }
        if let plain = publicHTTP.first { return (plain.localAddress, false) }
        return (shared, shared != nil)
    }
}

/// Where encoders and browsers are sent, for the console to show; what is off is absent.
struct PublicURLs {
    private let members: [(name: String, url: String)]

    init(_ endpoints: StageEndpoints, _ configuration: StagedoorConfiguration, hasMedia: Bool) {
        // The pages stand beside the WHIP endpoint, whatever the name that a proxy gives it.
        let pages = hasMedia ? Self.base(of: endpoints.whip) : ""
        let hasWatchPage = configuration.routers.values.contains { $0.driver == .embedded }
        let all = [
            ("whip", hasMedia ? endpoints.whip : ""), ("rtmp", endpoints.rtmp), ("rtmps", endpoints.rtmps),
            ("publish", pages.isEmpty || !configuration.watch.publishPage ? "" : pages + "/publish"),
            ("watch", pages.isEmpty || !hasWatchPage ? "" : pages + "/watch/"),
        ]
        members = all.filter { !$0.1.isEmpty }
    }

    var json: JSONValue { .object(JSONObject(members.map { ($0.name, .string($0.url)) })) }

    /// Scheme, host and port of a URL, and what a proxy put before `/whip`; empty when it has none.
    private static func base(of url: String) -> String {
        let parts = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count >= 3, parts[0].hasSuffix(":"), parts[1].isEmpty, !parts[2].isEmpty else { return "" }
        let origin = "\(parts[0])//\(parts[2])"
        guard parts.count == 4, parts[3].hasSuffix("/whip") else { return origin }
        return "\(origin)/\(parts[3].dropLast("/whip".count))"
    }
}
