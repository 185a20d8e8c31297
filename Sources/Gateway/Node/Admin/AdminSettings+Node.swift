import ControlPlane
import GatewayConfiguration
import HTTP
import HTTPServer
import Store
import Wire

extension ControlPlaneSettings {
    /// - Parameter quickstart: its key is one more.
    init(_ configuration: StagedoorConfiguration, store: NodeStore) {
        var keys = configuration.accessKeys.sorted { $0.key < $1.key }.map { _, key in
            AccessKey(id: key.id, secret: key.secret, isReadOnly: key.isReadOnly)
        }
        if let seed = store.quickstart { keys.append(AccessKey(id: seed.accessKeyID, secret: seed.secretAccessKey)) }
        self.init(names: store.names, endpoints: store.endpoints, accessKeys: keys)
        demandsSignature = configuration.admin.auth == .sigv4 || !configuration.admin.listen.isLoopback
        hosts = Set(configuration.admin.hosts)
        (rates.resources, rates.tokens) = (configuration.rates.resources, configuration.rates.tokens)
        (rates.publicKeys, rates.tags) = (configuration.rates.publicKeys, configuration.rates.tags)
        (quotas.stages, quotas.publicKeys) = (configuration.quotas.stages, configuration.quotas.publicKeys)
        quotas.ingestConfigurations = configuration.quotas.ingestConfigurations
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
        maximumBodyLength = { _ in 1 << 20 }
        requestTimeout = settings.requestTimeout
        maximumConnections = settings.maximumConnections
        maximumConnectionsPerAddress = settings.maximumConnections
    }
}
