import DTLS
import EventLoop
import Wire

/// One WHEP viewer: POST, connection, a while of media, DELETE. It asks for nothing a second time: what does not come is counted.
final class WHEPViewer {
    /// From the POST to its 201, to the end of the DTLS handshake, and to the first packet.
    private(set) var answeredAfter: Duration?
    private(set) var connectedAfter: Duration?
    private(set) var heardAfter: Duration?
    private(set) var sink = PacketSink()

    private let loop: EventLoop
    private let endpoint: WHIPEndpointClient
    private let token: String
    private let offer: WHIPOffer
    private let context: DTLSContext
    private var resource: WHIPEndpointClient.Resource?
    private var connection: WHIPConnection?
    private var timer: Watch?
    private var pause: Watch?
    private var isLeaving = false
    private var done: (String?) -> Void = { _ in }

    init(loop: EventLoop, endpoint: WHIPEndpointClient, token: String, context: DTLSContext) {
        (self.loop, self.endpoint, self.token, self.context) = (loop, endpoint, token, context)
        offer = WHIPOffer(certificate: context.certificate, direction: .recvonly)
    }

    /// Whoever hears nothing stays for so long.
    private static let patience = Duration.seconds(30)

    /// Connects, stays for a while from its first packet on, and leaves; `done` is called once, with
    /// what went wrong if anything did.
    /// - Parameter limit: until it is connected.
    func watch(for duration: Duration, within limit: Duration, done: @escaping (String?) -> Void) {
        self.done = done
        timer = loop.schedule(after: limit) { [unowned self] in leave("no connection in time") }
        post(duration)
    }

    private func post(_ duration: Duration) {
        let start = EventLoop.monotonicNow()
        endpoint.post(offer.text, token: token) { [self] result in
            do throws(WHIPEndpointClient.Fault) {
                let resource = try result.get()
                answeredAfter = EventLoop.monotonicNow() - start
                self.resource = resource
                connection = try? open(resource, start, duration)
                if connection == nil { leave("no socket") }
            } catch {
                // Many from one address wait their turn, as players do.
                if case .refused(status: 429, _, let seconds?) = error, let seconds = Int(seconds), !isLeaving {
                    return pause = loop.schedule(after: .seconds(seconds)) { [unowned self] in post(duration) }
                }
                leave("\(error)")
            }
        }
    }

    private func open(
        _ resource: WHIPEndpointClient.Resource, _ start: MonotonicTime, _ duration: Duration
    ) throws -> WHIPConnection {
        let connection = try WHIPConnection(loop: loop, server: resource.server, offer: offer, context: context)
        connection.onConnected = { [unowned self] in
            connectedAfter = EventLoop.monotonicNow() - start
            let stay = heardAfter == nil ? max(duration, Self.patience) : duration
            timer = loop.schedule(after: stay) { [unowned self] in leave(nil) }
        }
        connection.onClosed = { [unowned self] in leave("the server closed the connection") }
        unsafe connection.onMedia = { [unowned self] packet in
            let now = EventLoop.monotonicNow()
            if heardAfter == nil {
                heardAfter = now - start
                timer = loop.schedule(after: duration) { [unowned self] in leave(nil) }
            }
            unsafe sink.take(UnsafeRawBufferPointer(packet), now: now)
        }
        return connection
    }

    /// Asks the server to end the session, as players do.
    private func leave(_ fault: String?) {
        // The server's goodbye overtakes its answer to our DELETE.
        guard !isLeaving else { return }
        isLeaving = true
        (timer, pause) = (nil, nil)
        guard let resource else { return finish(fault) }
        endpoint.delete(resource, token: token) { [self] result in
            if case .failure(let refusal) = result { return finish(fault ?? "DELETE: \(refusal)") }
            finish(fault)
        }
    }

    private func finish(_ fault: String?) {
        connection?.close()
        done(fault)
    }
}
