import Admission
import Console
import ControlPlane
import EventLoop
import GatewayLogging
import GatewayMetrics
import HTTP
import HTTPServer
import Settings
import Sockets
import Store
import Wire

/// What the control loop serves on the admin listener: `AdminRoutes` says what and to whom. Confined to it.
final class AdminSite: NodeService {
    /// What it answers from.
    struct Environment {
        var metricsSettings: MetricsSettings
        var server: HTTPServerConfiguration
        var counters: HTTPServerCounters
        var health: HealthEndpoints
        var api: ControlPlane
        var events: EventService
        var operators: OperatorAPI
        var metrics: MetricsDesk
        var files: RecordedFiles
        var drain: NodeDrain
        /// Kept as long as it serves: its loop is measured, and sessions whose token is taken away are ended.
        var loopMetrics: LoopMetrics
        var revocations: [Watch]
        /// Called after each operation that went well, which may have made or deleted something.
        var operated: () -> Void
    }

    private let environment: Environment
    private let routes = AdminRoutes(pages: ConsolePages.paths, isOperation: ControlPlane.serves)
    private var server: HTTPServer?
    /// Whether only this machine reaches us. The socket knows: systemd's unit may bind it elsewhere than `admin.listen` says.
    private let isOnLoopback: Bool

    init(loop: EventLoop, socket: BoundSocket?, _ environment: Environment) throws(SystemError) {
        self.environment = environment
        isOnLoopback = socket?.localAddress.ip.isLoopback ?? true
        let server = HTTPServer(loop: loop, configuration: environment.server, counters: environment.counters) { [unowned self] in
            answer($0, $1)
        }
        self.server = server
        server.onExhausted = { Log.cannotAccept("admin", $0) }
        if let socket { try server.listen(on: socket) }
    }

    func apply(_ settings: ControlPlaneSettings) {
        environment.api.apply(settings)
        environment.events.recheckReaders()
    }

    func stop() { server?.drain() }

    /// Leaves new connections to the process that takes our place.
    func suspend() { server?.suspend() }
    func resume() { server?.resume() }

    private func answer(_ request: HTTPRequest, _ exchange: HTTPExchange) {
        let isHealth = HealthEndpoints.paths.contains(request.path)
        if let refusal = environment.api.hostRefusal(of: request, isHealth: isHealth) { return exchange.respond(refusal) }
        switch routes.match(request) {
        case .found(let action, let caller, let taken):
            let refusal = refusal(of: request, from: caller) { environment.operators.stageARN(of: action, taken) }
            if let refusal { return exchange.respond(refusal) }
            perform(action, taken, request, exchange)
        case .notAllowed(let caller, let allowed):
            if let refusal = refusal(of: request, from: caller) { return exchange.respond(refusal) }
            let list = allowed.map(\.rawValue).joined(separator: ", ")
            exchange.respond(ProblemDocument(.methodNotAllowed).response(headers: ["Allow": list]))
        case .unknown(let caller):
            if let refusal = refusal(of: request, from: caller) { return exchange.respond(refusal) }
            respond(nil, to: request, exchange)
        }
    }

    /// - Parameter stage: the ARN of the only stage that it concerns.
    private func refusal(
        of request: HTTPRequest, from caller: AdminCaller, on stage: () -> String? = { nil }
    ) -> HTTPResponse? {
        let api = environment.api
        switch caller {
        case .anybody, .judgedByAPI: return nil
        case .metricsReader:
            if isOnLoopback || environment.metricsSettings.admits(request) { return nil }
            return environment.metricsSettings.refusal(of: request) ?? api.refusal(of: request, for: .getMetrics)
        case .anyKey: return api.refusal(of: request, for: nil)
        case .key(let action): return api.refusal(of: request, for: action, on: stage)
        }
    }

    private func perform(_ action: AdminAction, _ taken: [String], _ request: HTTPRequest, _ exchange: HTTPExchange) {
        let (api, operators) = (environment.api, environment.operators)
        switch action {
        case .events: environment.events.stream(request, exchange, isAdmitted: api.standing(of: request, for: .getEvents))
        case .operation:
            api.handle(request) { [operated = environment.operated] response in
                if response.status == .ok { operated() }
                exchange.respond(response)
            }
        case .health: respond(environment.health.response(to: request), to: request, exchange)
        case .metrics:
            operators.report.countReceived()
            respond(environment.health.response(to: request), to: request, exchange)
        case .page: respond(ConsolePages.response(to: request), to: request, exchange)
        case .consoleSession:
            respond(api.consoleSession(request), to: request, exchange)
            // Somebody may have signed out, or made room for who signs in.
            environment.events.recheckReaders()
        case .drain(let order): exchange.respond(environment.drain.answer(order))
        case .overview: exchange.respond(operators.overview)
        case .sessions: exchange.respond(operators.sessions)
        case .session: exchange.respond(operators.session(taken[0]))
        case .stageMetrics: environment.metrics.answer(aboutStage: taken[0], request, exchange)
        case .cloudWatch: environment.metrics.answer(request, exchange)
        case .obsConfiguration: exchange.respond(operators.obsConfiguration(ofIngestConfiguration: taken[0], request))
        case .description: exchange.respond(operators.description(of: taken))
        case .source(let order): exchange.respond(operators.source(ofParticipant: taken[0], order, request))
        case .recording(let folder): environment.files.answer(RecordedFiles.Place(taken, in: folder), exchange)
        case .thumbnail: exchange.respond(operators.thumbnail(ofParticipant: taken[1], onStage: taken[0]))
        }
    }

    /// - Parameter response: nil when nothing is there: the owner of a path may be stricter about its spelling than the table.
    private func respond(_ response: HTTPResponse?, to request: HTTPRequest, _ exchange: HTTPExchange) {
        let nothing = ProblemDocument(.notFound, detail: "Nothing is served at \(request.path).")
        exchange.respond(response ?? nothing.response())
    }
}

extension ControlPlaneSettings {
    /// - Parameter store: quickstart's key, if it has one, is one more.
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

    /// Of who shows neither a signature nor a console's cookie, for the API to judge: in words for who sets up a scraper, whose
    /// `Host` is any address.
    func refusal(of request: HTTPRequest) -> HTTPResponse? {
        let isSigned = request.headers["Authorization"]?.hasPrefix("AWS4-") ?? false
        if admits(request) || isSigned || request.headers["Cookie"] != nil { return nil }
        let detail = "Metrics are for metrics.token as a bearer token, for metrics.networks, and for signed requests."
        return ProblemDocument(.unauthorized, detail: detail).response(headers: ["WWW-Authenticate": "Bearer"])
    }
}

extension HTTPServerConfiguration {
    init(_ settings: AdminSettings, trustedProxies: [IPNetwork]) {
        self.init(
            requestTimeout: settings.requestTimeout, idleTimeout: settings.idleTimeout,
            maximumBodyLength: settings.maximumBodySize.bytes, maximumConnections: settings.maximumConnections,
            maximumConnectionsPerAddress: settings.maximumConnections)
        self.trustedProxies = trustedProxies
    }
}

/// What `/readyz` asks.
struct ReadinessChecks: Sendable {
    let gate: AdmissionGate
    /// Nil where the node needs no servers to let publishes in.
    let cluster: ClusterContext?

    init(_ gate: AdmissionGate, _ membership: Membership, _ settings: ClusterSettings) {
        self.gate = gate
        cluster = if case .member(let cluster) = membership, settings.degraded == .refuse { cluster } else { nil }
    }

    var all: [HealthEndpoints.Check] {
        [
            HealthEndpoints.Check("draining", failing: gate.isLeaving ? "the node goes away" : nil),
            HealthEndpoints.Check("cluster", failing: cluster?.fault.withLock { $0.words }),
            HealthEndpoints.Check("overload", failing: gate.isClosed(because: .overloaded) ? "new publishes are refused" : nil),
        ]
    }
}
