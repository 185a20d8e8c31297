import ControlPlane
import HTTP
import HTTPServer
import Settings
import Store
import Wire

extension ControlPlaneSettings {
    /// - Parameter quickstart: its key is one more.
    init(_ configuration: StagedoorConfiguration, store: NodeStore) {
        var keys = configuration.accessKeys.sorted { $0.key < $1.key }.map(\.value)
        if let seed = store.quickstart { keys.append(AccessKeySettings(id: seed.accessKeyID, secret: seed.secretAccessKey)) }
        self.init(names: store.names, endpoints: store.endpoints, accessKeys: keys)
        (admin, rates, quotas) = (configuration.admin, configuration.rates, configuration.quotas)
    }
}

extension MetricsSettings {
    /// Whether a request for the metrics needs no signature: it shows the bearer token, or comes from one of the networks.
    func admits(_ request: HTTPRequest) -> Bool {
        if networks.contains(where: { $0.contains(request.source.ip) }) { return true }
        guard !token.isEmpty, let shown = request.bearerToken else { return false }
        return shown == token
    }
}

extension HTTPServerConfiguration {
    init(_ settings: AdminSettings, trustedProxies: [IPNetwork]) {
        self.init()
        self.trustedProxies = trustedProxies
        let length = settings.maximumBodySize.bytes
        maximumBodyLength = { _ in length }
        (requestTimeout, idleTimeout) = (settings.requestTimeout, settings.idleTimeout)
        maximumConnections = settings.maximumConnections
        maximumConnectionsPerAddress = settings.maximumConnections
    }
}
