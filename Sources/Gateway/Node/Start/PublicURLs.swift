import JSON
import Settings
import Sockets
import Store
import Wire

extension StageEndpoints {
    /// What stages hand out: the operator's URLs, or what this node is reached at.
    init(_ configuration: StagedoorConfiguration, listeners: Listeners) {
        let settings = configuration.endpoints
        let usesTLS = !configuration.tls.certificate.isEmpty
        let web = (usesTLS ? listeners.publicHTTPS : listeners.publicHTTP).first?.localAddress
        let rtmp = listeners.rtmp.first?.localAddress
        func url(_ given: String, _ scheme: String, _ address: SocketAddress?, _ path: String) -> String {
            if !given.isEmpty { return given }
            guard let address else { return "" }
            return "\(scheme)://\(Self.host(configuration, address)):\(address.port)\(path)"
        }
        self.init(
            events: url(settings.events, usesTLS ? "wss" : "ws", web, "/events"),
            whip: url(settings.whip, usesTLS ? "https" : "http", web, "/whip"),
            rtmp: url(settings.rtmp, "rtmp", rtmp, "/app/"), rtmps: url(settings.rtmps, "rtmps", rtmp, "/app/"))
    }

    /// `advertise.host`, else the bound address; a listener on all addresses is reached at loopback from this machine.
    static func host(_ configuration: StagedoorConfiguration, _ address: SocketAddress) -> String {
        if !configuration.advertise.host.isEmpty { return configuration.advertise.host }
        if address.ip.isUnspecified { return "127.0.0.1" }
        return address.ip.isV4 ? address.ip.description : "[\(address.ip)]"
    }
}

/// Where encoders and browsers are sent, for the console to show; what is off is absent.
struct PublicURLs {
    private let members: [(name: String, url: String)]

    init(_ endpoints: StageEndpoints, _ configuration: StagedoorConfiguration, hasMedia: Bool) {
        // The pages stand beside the WHIP endpoint, whatever the name that a proxy gives it.
        let pages = hasMedia ? Self.origin(of: endpoints.whip) : ""
        let hasWatchPage = configuration.routers.values.contains { $0.driver == .embedded }
        let all = [
            ("whip", hasMedia ? endpoints.whip : ""), ("rtmp", endpoints.rtmp), ("rtmps", endpoints.rtmps),
            ("publish", pages.isEmpty || !configuration.watch.publishPage ? "" : pages + "/publish"),
            ("watch", pages.isEmpty || !hasWatchPage ? "" : pages + "/watch/"),
        ]
        members = all.filter { !$0.1.isEmpty }
    }

    var json: JSONValue { .object(JSONObject(members.map { ($0.name, .string($0.url)) })) }

    /// Scheme, host and port of a URL; empty when it has none.
    private static func origin(of url: String) -> String {
        let parts = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count >= 3, parts[0].hasSuffix(":"), parts[1].isEmpty, !parts[2].isEmpty else { return "" }
        return "\(parts[0])//\(parts[2])"
    }
}
