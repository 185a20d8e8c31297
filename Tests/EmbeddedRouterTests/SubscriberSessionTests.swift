import Admission
import EventLoop
import GatewayMetrics
import Settings
import Sockets
import Testing
import Wire

@testable import EmbeddedRouter
@testable import WebRTCTransport

@Suite("A subscriber's session")
struct SubscriberSessionTests {
    private let context: EmbeddedRouterContext
    private let port: MediaPort
    private let worker: EmbeddedRouterWorker

    init() throws {
        let transports = try TransportContext(
            configuration: TransportConfiguration(advertisedAddresses: []), workerCount: 1,
            metrics: TransportMetrics(MetricsRegistry()))
        var settings = EmbeddedSettings()
        settings.sessionDuration = .seconds(60)
        context = EmbeddedRouterContext(
            settings: settings, transport: transports, authorizer: Everybody(), workerCount: 1,
            metrics: EmbeddedRouterMetrics(MetricsRegistry()))
        let socket = try BoundSocket(.udp, SocketAddress(.loopback, port: 0))
        port = try MediaPort(loop: try EventLoop(), index: 0, socket: socket, context: transports)
        worker = try EmbeddedRouterWorker(port: port, context: context)
    }

    private func makeEntry() throws -> SubscriberEntry {
        let offer = try SubscriberOffer(negotiating: try SubscriberOfferTests.turned("aiortc-1.16.0"))
        return SubscriberEntry(
            transport: context.transport.makeState(for: offer.peer, token: Secret("token"), now: port.loop.now),
            grant: SubscribeGrant(participantID: "viewer", stageARN: "arn/s", stageID: "s"),
            watched: WatchedKey(stageID: "s", participantID: "alice"), offer: offer, sources: SubscriberOfferTests.sources,
            layer: .init(), context: context)
    }

    /// Counted from when it is connected, and looked at ten times a second.
    @Test func `watches for as long as it may, and no longer`() throws {
        let transport = PeerTransport(
            entry: try makeEntry(), port: port, path: MediaPath(remote: SocketAddress(.loopback, port: 9)), now: port.loop.now)
        let session = worker.makeSession(for: transport.entry, on: transport)
        transport.session = session
        session.look(at: port.loop.now)
        #expect(!transport.isClosed, "it is not connected")
        session.transportReady()
        session.look(at: port.loop.now + .seconds(59))
        #expect(!transport.isClosed)
        session.look(at: port.loop.now + .seconds(60))
        #expect(transport.isClosed)
        port.stop()
    }
}
