import Admission
import EventLoop
import GatewayMetrics
import HTTP
import HTTPServer
import TestSupport
import Testing
import WebRTCTransport
import Wire

@testable import EmbeddedRouter
@testable import StageHub

/// Two workers' WHEP endpoints behind real servers, on one loop, with one session that nobody has claimed.
final class WHEPSite {
    let loop: EventLoop
    let entry: SubscriberEntry
    /// Where requests for the sessions of another process are answered.
    var predecessor: WHEPSite?
    private var servers: [HTTPServer] = []
    private var endpoints: [WHEPEndpoint] = []
    private var addresses: [SocketAddress] = []

    init(
        authorizer: any SubscribeAuthorizer = Everybody(), reports: (any ViewerReports)? = nil,
        _ change: (inout TransportConfiguration) -> Void = { _ in }
    ) throws {
        loop = try EventLoop()
        var settings = TransportConfiguration(advertisedAddresses: [])
        change(&settings)
        let transport = try TransportContext(
            configuration: settings, workerCount: 1, metrics: TransportMetrics(MetricsRegistry()))
        let context = EmbeddedRouterContext(
            transport: transport, authorizer: authorizer, reports: reports, workerCount: 1,
            metrics: EmbeddedRouterMetrics(MetricsRegistry()))
        let offer = try SubscriberOffer(negotiating: try SubscriberOfferTests.turned("aiortc-1.16.0"))
        entry = SubscriberEntry(
            transport: transport.makeState(for: offer.peer, token: Secret("good"), now: loop.now),
            grant: SubscribeGrant(participantID: "viewer", stageARN: "arn/s", stageID: "s"),
            watched: ParticipantKey("alice", onStage: "s"), offer: offer, sources: SubscriberOfferTests.sources,
            layer: .init(), context: context)
        context.entries[entry.transport.id] = entry
        var configuration = HTTPServerConfiguration(
            requestTimeout: .seconds(10), idleTimeout: .seconds(60), maximumBodyLength: 64 << 10, maximumConnections: 100,
            maximumConnectionsPerAddress: 100)
        configuration.trustedProxies = [IPNetwork("127.0.0.0/8")!]
        for _ in 0..<2 {
            let endpoint = try WHEPEndpoint(loop: loop, context: context) { [unowned self] request, respond in
                predecessor?.endpoints[0].handle(request, respond: respond) ?? false
            }
            let server = HTTPServer(loop: loop, configuration: configuration) { request, exchange in
                if !endpoint.handle(request, exchange) { exchange.respond(HTTPResponse(.notFound)) }
            }
            addresses.append(try server.listen(on: SocketAddress(.loopback, port: 0)))
            servers.append(server)
            endpoints.append(endpoint)
        }
    }

    deinit { loop.letGo() }

    func ask(
        _ method: String, _ path: String, body: String = "", token: String? = "good", fields: String = "", worker: Int = 0
    ) throws -> HTTPTestClient {
        try ask(
            "\(method) /whep/sessions/\(entry.transport.id)\(path)", body: body, token: token, fields: fields, worker: worker)
    }

    /// - Parameter line: method and path, of any resource.
    func ask(
        _ line: String, body: String = "", token: String? = "good", fields: String = "", worker: Int = 0
    ) throws -> HTTPTestClient {
        try HTTPTestClient(loop: loop, to: addresses[worker], line, token: token, fields: fields, body: body)
    }

    func answer(_ method: String, _ path: String, body: String = "", token: String? = "good") throws -> String {
        let client = try ask(method, path, body: body, token: token)
        try #require(wait { client.isClosed })
        return client.text
    }

    func wait(until isDone: () -> Bool) -> Bool { loop.run(until: isDone, within: .seconds(60)) }

    /// The session's news.
    func tell(current: TrackID? = LayerChooserTests.low, _ layers: [VideoLayer]? = LayerChooserTests.three) {
        var state = entry.desk.state
        (state.layers, state.current) = (layers, current)
        state.choice = LayerChoice(track: current, reason: .initial)
        entry.desk.tell(state)
    }
}
