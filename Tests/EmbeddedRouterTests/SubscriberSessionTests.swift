import Admission
import EventLoop
import GatewayMetrics
import Settings
import Sockets
import StageHub
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
            watched: ParticipantKey("alice", onStage: "s"), offer: offer, sources: SubscriberOfferTests.sources,
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

    /// Opus by RTMP is one packet however long its frames are (RFC 7587).
    @Test(arguments: [1_200, 2_400, 8_192])
    func `sound goes out in packets of any length`(_ byteCount: Int) throws {
        let transport = PeerTransport(
            entry: try makeEntry(), port: port, path: MediaPath(remote: SocketAddress(.loopback, port: 9)), now: port.loop.now)
        let session = try #require(worker.makeSession(for: transport.entry, on: transport) as? SubscriberSession)
        transport.session = session
        // SRTP_AES128_CM_SHA1_80: two keys of 16 bytes, two salts of 14.
        transport.handshakeCompleted(1, Secret([UInt8](repeating: 7, count: 60)), at: port.loop.now)
        session.send(sound(byteCount), epoch: 1, at: port.loop.now)
        #expect(context.metrics.packets.value == 1)
        session.look(at: port.loop.now + .seconds(60))
        port.stop()
    }

    private func sound(_ byteCount: Int) -> MediaBlock {
        let block = MediaBlock()
        let bytes = [UInt8](repeating: 7, count: byteCount)
        bytes.withUnsafeBytes { payload in
            let packet = MediaPacket(sequenceNumber: 1, timestamp: 0, marker: false, head: 0, headCount: 0, payload: payload)
            withUnsafePointer(to: packet) { pointer in
                block.fill(
                    UnsafeBufferPointer(start: pointer, count: 1)[...],
                    of: MediaRun(track: .audio, isKeyframe: false, arrival: port.loop.now), epoch: 0, clock: nil)
            }
        }
        return block
    }
}
