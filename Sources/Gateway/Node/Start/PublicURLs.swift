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
