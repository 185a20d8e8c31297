import Admission
import ClientConfiguration
import EmbeddedRouter
import EventLoop
import GatewayLogging
import GatewayMetrics
import HTTP
import HTTPClient
import HTTPServer
import OpenSSL
import Settings
import Sockets
import Store
import WHIPIngest
import WebRTCTransport

/// What one worker serves on the public HTTP and HTTPS listeners. Confined to the worker.
final class PublicSite {
    /// The parts of the node that it works with.
    struct Environment: Sendable {
        let webRTC: SharedWebRTC
        let stages: StageBoard
        let clientConfiguration: ClientConfigurationContext?
        let predecessorRequests: PredecessorRequests
        let neighbours: LivingNeighbours?
        /// The PEM file of the authorities by which the other nodes' certificates are trusted; empty: the system's.
        let certificateAuthority: String
        let hasPublishPage: Bool
        let http: HTTPServerConfiguration
        let https: HTTPServerConfiguration
        let tls: TLSContext
    }

    /// One for HTTP, one for HTTPS: each has limits of its own.
    private let servers: [HTTPServer]
    private let https: HTTPServer
    private let whip: WHIPEndpoint?
    private let whep: WHEPEndpoint?
    private let watch: WatchEndpoint?

    init(
        loop: EventLoop, sockets: WorkerSockets, _ environment: Environment, host: PublicationHost, metrics: MetricsRegistry
    ) throws {
        let predecessor = try PredecessorAnswers(loop: loop, requests: environment.predecessorRequests)
        let whip = try Self.makeWHIP(loop: loop, environment, host, predecessor)
        let whep = try environment.webRTC.embedded.map {
            try WHEPEndpoint(loop: loop, context: $0, predecessor: predecessor.pass)
        }
        (self.whip, self.whep) = (whip, whep)
        let watch = try environment.webRTC.embedded.map { try WatchEndpoint(loop: loop, board: environment.stages, context: $0) }
        self.watch = watch
        let setup = try Self.makeSetup(loop: loop, environment)
        let answer: HTTPServer.Handler = { request, exchange in
            if whip?.handle(request, respond: { exchange.respond($0) }) == true { return }
            if whep?.handle(request, exchange) == true { return }
            if watch?.handle(request, exchange) == true { return }
            if setup?.handle(request, respond: { exchange.respond($0) }) == true { return }
            if whip?.turnAwayStray(request, respond: { exchange.respond($0) }) == true { return }
            exchange.respond(ProblemDocument(.notFound, detail: "Nothing is served at \(request.path)."))
        }
        let http = Self.makeServer("http", loop: loop, environment.http, metrics, answer)
        let https = Self.makeServer("https", loop: loop, environment.https, metrics, answer)
        if let socket = sockets.http { try http.listen(on: socket) }
        if let socket = sockets.https { try https.listen(on: socket, tls: environment.tls) }
        (self.https, servers) = (https, [http, https])
    }

    /// Serves a stream of the shared port, as HTTPS.
    func adopt(_ stream: TCPStream) { https.adopt(stream) }

    /// - Parameter listener: what counters and the log call it.
    private static func makeServer(
        _ listener: String, loop: EventLoop, _ configuration: HTTPServerConfiguration, _ metrics: MetricsRegistry,
        _ answer: @escaping HTTPServer.Handler
    ) -> HTTPServer {
        let counters = HTTPServerCounters(metrics, listener: listener)
        let server = HTTPServer(loop: loop, configuration: configuration, counters: counters, handler: answer)
        server.onExhausted = { Log.cannotAccept(listener, $0) }
        return server
    }

    /// Nil where WHIP is not served.
    private static func makeWHIP(
        loop: EventLoop, _ environment: Environment, _ host: PublicationHost, _ predecessor: PredecessorAnswers
    ) throws -> WHIPEndpoint? {
        try environment.webRTC.whip.map { context in
            try WHIPEndpoint(
                loop: loop, context: context, host: host, servesPublishPage: environment.hasPublishPage,
                proxy: makeProxy(loop: loop, environment), predecessor: predecessor.pass)
        }
    }

    /// What sets up OBS; nil where RTMP is not served.
    private static func makeSetup(loop: EventLoop, _ environment: Environment) throws -> ClientConfigurationEndpoint? {
        var rates = RequestRates()
        return try environment.clientConfiguration.map { context in
            try ClientConfigurationEndpoint(loop: loop, context: context) { rates.allows($0, now: loop.now) }
        }
    }

    /// To the nodes that have other sessions; nil for a node alone.
    private static func makeProxy(loop: EventLoop, _ environment: Environment) -> SessionProxy? {
        guard let neighbours = environment.neighbours, let transport = environment.webRTC.transport else { return nil }
        var tls = HTTPClientTLS()
        tls.certificateAuthority = environment.certificateAuthority
        return SessionProxy(loop: loop, directory: neighbours, key: transport.configuration.sessionKey, tls: tls)
    }

    func replaceTLS(_ context: TLSContext) { for server in servers { server.replaceTLS(context) } }

    func suspend() { for server in servers { server.suspend() } }
    func resume() { for server in servers { server.resume() } }

    /// Answers a request that another process received.
    func answer(_ request: HTTPRequest, _ reply: @escaping @Sendable (HTTPResponse) -> Void) {
        if whip?.handle(request, respond: { reply($0) }) == true { return }
        if whep?.handle(request, respond: { reply($0) }) == true { return }
        reply(ProblemDocument(.notFound, detail: "Nothing is served at \(request.path).").response())
    }

    func stop() {
        watch?.stop()
        for server in servers { server.drain() }
    }
}

extension PublicSite.Environment {
    init(_ configuration: StagedoorConfiguration, _ shared: SharedParts, membership: Membership) {
        (webRTC, stages, tls) = (shared.webRTC, shared.records.stages, shared.tls)
        predecessorRequests = shared.predecessorRequests
        clientConfiguration = shared.clientConfiguration
        neighbours =
            if case .member(let cluster) = membership {
                LivingNeighbours(cluster: cluster, gate: shared.admission.gate)
            } else { nil }
        certificateAuthority = configuration.cluster.certificateAuthority
        hasPublishPage = configuration.watch.publishPage
        http = HTTPServerConfiguration(configuration.http, of: configuration, trust: shared.admission.trust)
        https = HTTPServerConfiguration(configuration.https, of: configuration, trust: shared.admission.trust)
    }
}

extension HTTPServerConfiguration {
    /// - Parameter listener: `http` or `https`.
    init(_ listener: HTTPSettings, of configuration: StagedoorConfiguration, trust: AddressTrust) {
        self.init(
            requestTimeout: listener.requestTimeout, idleTimeout: listener.idleTimeout,
            maximumBodyLength: listener.maximumBodySize.bytes, maximumConnections: listener.maximumConnections,
            maximumConnectionsPerAddress: configuration.limits.connectionsPerAddress)
        trustedProxies = configuration.trustedProxies
        self.trust = trust
    }
}
