import EmbeddedRouter
import EventLoop
import GatewayConfiguration
import HTTP
import HTTPClient
import HTTPServer
import OpenSSL
import Sockets
import WHIPIngest
import WebRTCTransport

/// What one worker serves on the public HTTP and HTTPS listeners. Confined to the worker.
final class PublicSite {
    private let server: HTTPServer
    private let whip: WHIPEndpoint?
    private let watch: WatchEndpoint?
    private let foreign: ForeignAnswers

    init(loop: EventLoop, sockets: WorkerSockets, services: NodeServices, host: PublicationHost) throws {
        let whip = try services.whip.map { plane in
            try WHIPEndpoint(
                loop: loop, plane: plane, authorizer: services.authorizer,
                servesPublishPage: services.configuration.watch.hasPublishPage)
        }
        whip?.host = host
        let whep = try services.embedded.map { try WHEPEndpoint(loop: loop, plane: $0) }
        self.whip = whip
        let watch = try services.embedded.map { try WatchEndpoint(loop: loop, board: services.stages, plane: $0) }
        self.watch = watch
        let foreign = try ForeignAnswers(loop: loop, requests: services.foreignRequests)
        whip?.predecessor = { foreign.pass($0, $1) }
        if let cluster = services.cluster, let transport = services.transport {
            var tls = HTTPClientTLS()
            tls.certificateAuthority = services.configuration.cluster.certificateAuthority
            let neighbours = LivingNeighbours(leases: cluster.leases, gate: services.gate)
            whip?.proxy = SessionProxy(
                loop: loop, directory: neighbours, key: transport.configuration.sessionKey, tls: tls)
        }
        self.foreign = foreign
        server = HTTPServer(loop: loop, configuration: HTTPServerConfiguration(services.configuration.http, services)) {
            request, exchange in
            if whip?.handle(request, respond: { exchange.respond($0) }) == true { return }
            if whep?.handle(request, respond: { exchange.respond($0) }) == true { return }
            if watch?.handle(request, exchange) == true { return }
            exchange.respond(ProblemDocument(.notFound, detail: "Nothing is served at \(request.path)."))
        }
        if let socket = sockets.http { try server.listen(on: socket) }
        if let socket = sockets.https { try server.listen(on: socket, tls: services.tls) }
    }

    func replaceTLS(_ context: TLSContext) { server.replaceTLS(context) }

    func suspend() { server.suspend() }
    func resume() { server.resume() }

    /// Answers a request that another process received.
    func answer(_ request: HTTPRequest, _ reply: @escaping @Sendable (HTTPResponse) -> Void) {
        if whip?.handle(request, respond: { reply($0) }) != true {
            reply(ProblemDocument(.notFound, detail: "Nothing is served at \(request.path).").response())
        }
    }

    func stop() {
        watch?.stop()
        server.drain()
    }
}

extension HTTPServerConfiguration {
    init(_ settings: HTTPSettings, _ services: NodeServices) {
        self.init()
        let length = settings.maximumBodySize.bytes
        maximumBodyLength = { _ in length }
        requestTimeout = settings.requestTimeout
        idleTimeout = settings.idleTimeout
        maximumConnections = settings.maximumConnections
        maximumConnectionsPerAddress = services.configuration.limits.connectionsPerAddress
        trustedProxies = services.configuration.trustedProxies
        trust = services.trust
    }
}
