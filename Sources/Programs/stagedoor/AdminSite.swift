import Admission
import EventLoop
import GatewayConfiguration
import GatewayMetrics
import HTTP
import HTTPServer
import Sockets

/// What the control loop serves on the admin listener. Confined to it.
final class AdminSite {
    private let server: HTTPServer

    init(loop: EventLoop, socket: BoundSocket?, services: NodeServices) throws {
        let health = HealthEndpoints(
            heartbeats: services.heartbeats, readiness: { services.readiness }, metrics: { services.metrics.exposition() })
        server = HTTPServer(loop: loop, configuration: HTTPServerConfiguration(services.configuration.admin)) {
            request, exchange in
            if let response = health.response(to: request) { return exchange.respond(response) }
            exchange.respond(ProblemDocument(.notFound, detail: "Nothing is served at \(request.path)."))
        }
        if let socket { try server.listen(on: socket) }
    }

    func drain() { server.drain() }
}

extension HTTPServerConfiguration {
    init(_ settings: AdminSettings) {
        self.init()
        maximumBodyLength = { _ in 1 << 20 }
        requestTimeout = settings.requestTimeout
        maximumConnections = settings.maximumConnections
        maximumConnectionsPerAddress = settings.maximumConnections
    }
}

extension NodeServices {
    /// What `/readyz` asks.
    var readiness: [HealthEndpoints.Check] {
        [
            HealthEndpoints.Check("draining", failing: gate.closure == .draining ? "new publishes are refused" : nil),
            HealthEndpoints.Check("overload", failing: gate.closure == .overloaded ? "new publishes are refused" : nil),
        ]
    }
}
