import Admission
import Console
import ControlPlane
import EventLoop
import GatewayConfiguration
import GatewayMetrics
import HTTP
import HTTPServer
import Sockets
import Store
import Wire

/// What the control loop serves on the admin listener. Confined to it.
final class AdminSite {
    private let server: HTTPServer
    private let api: ControlPlane
    private let reports: [Watch]

    init(
        loop: EventLoop, socket: BoundSocket?, services: NodeServices, settings: ControlPlaneSettings, events: EventPlane,
        operators: OperatorAPI, reservations: StaticReservations, drain: NodeDrain
    ) throws {
        let health = HealthEndpoints(
            heartbeats: services.heartbeats, readiness: { services.readiness }, metrics: { services.metrics.exposition() })
        let api = try ControlPlane(
            loop: loop, settings: settings, store: services.store, leases: services.leases, authority: services.authority,
            isWatching: services.isWatching)
        self.api = api
        let isOpen = services.configuration.admin.listen.isLoopback
        let metrics = services.configuration.metrics
        server = HTTPServer(loop: loop, configuration: HTTPServerConfiguration(services.configuration.admin, services)) {
            request, exchange in
            let isHealth = HealthEndpoints.paths.contains(request.path)
            if let refusal = api.hostRefusal(of: request, isHealth: isHealth) { return exchange.respond(refusal) }
            if request.path == "/metrics" { operators.report.countReceived() }
            if let response = health.response(to: request) {
                // Off loopback, metrics are for those who may: they tell who is live.
                if !isOpen, request.path == "/metrics", !metrics.admits(request),
                    let refusal = api.refusal(of: request, isReading: true)
                {
                    return exchange.respond(refusal)
                }
                return exchange.respond(response)
            }
            if let page = ConsolePages.response(to: request) { return exchange.respond(page) }
            if let response = api.consoleSession(request) { return exchange.respond(response) }
            if let order = DrainOrder(request) {
                if let refusal = api.refusal(of: request, isReading: order == .tell) { return exchange.respond(refusal) }
                return exchange.respond(drain.answer(order))
            }
            if request.path == "/v1/events" {
                if let refusal = api.refusal(of: request, isReading: true) { return exchange.respond(refusal) }
                return events.stream(request, exchange)
            }
            if request.path.hasPrefix("/v1/") {
                if let refusal = api.refusal(of: request, isReading: true) { return exchange.respond(refusal) }
                if let response = operators.response(to: request) { return exchange.respond(response) }
            }
            if ControlPlane.serves(request) {
                return api.handle(request) { response in
                    if response.status == .ok {
                        reservations.follow(services.store.state)
                        services.endRevoked()
                    }
                    exchange.respond(response)
                }
            }
            exchange.respond(ProblemDocument(.notFound, detail: "Nothing is served at \(request.path)."))
        }
        reports = [
            services.heartbeats.join(loop, name: "control"),
            services.watchRevocations(on: loop),
            LoopMetrics.watch(loop, name: "control", in: services.metrics, lag: services.lag),
        ]
        if let socket { try server.listen(on: socket) }
    }

    func apply(_ settings: ControlPlaneSettings) { api.apply(settings) }

    func drain() { server.drain() }

    /// Leaves new connections to the process that takes our place.
    func suspend() { server.suspend() }
    func resume() { server.resume() }
}

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
    init(_ settings: AdminSettings, _ services: NodeServices) {
        self.init()
        trustedProxies = services.configuration.trustedProxies
        maximumBodyLength = { _ in 1 << 20 }
        requestTimeout = settings.requestTimeout
        maximumConnections = settings.maximumConnections
        maximumConnectionsPerAddress = settings.maximumConnections
    }
}

extension NodeServices {
    /// Why this node refuses new publishes that others may take; nil where it needs no servers to let them in.
    private var clusterFault: String? {
        guard let cluster, configuration.cluster.degraded == .refuse else { return nil }
        return cluster.fault.withLock { $0 }
    }

    /// What `/readyz` asks.
    var readiness: [HealthEndpoints.Check] {
        [
            HealthEndpoints.Check("draining", failing: gate.isLeaving ? "the node goes away" : nil),
            HealthEndpoints.Check("cluster", failing: clusterFault),
            HealthEndpoints.Check("overload", failing: gate.closure == .overloaded ? "new publishes are refused" : nil),
        ]
    }
}
