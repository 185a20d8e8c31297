import DTLS
import EventLoop
import GatewayMetrics
import Refusals
import Sockets
import Wire

/// DTLS of one session, in either role, within the loop's budget of handshakes (RFC 6347, RFC 5764).
///
/// Datagrams come in, flights leave where its transport sends; the transport is told what comes of it, the keys or an end.
final class PeerHandshake {
    /// Owns this handshake, and so outlives it.
    private unowned let transport: PeerTransport
    private let state: TransportState
    private var dtls: DTLSConnection?
    private var timer: TimerWatch?
    /// Steps that wait for their turn.
    private var waitingSteps = 0
    private var attempts = 0
    /// From our last flight to what it was answered with: the first idea of the way's length.
    private(set) var roundTrip: Duration?
    private var flightSentAt: MonotonicTime?

    init(of transport: PeerTransport) { (self.transport, state) = (transport, transport.entry.transport) }

    private var port: MediaPort { transport.port }

    /// As DTLS client: sends the ClientHello, right after the binding response.
    func start() {
        guard dtls == nil, let dtls = makeConnection(.client) else { return }
        insist(on: dtls) { connection throws(DTLSError) in
            try connection.start()
            return .none
        }
    }

    func receive(_ datagram: UnsafeRawBufferPointer, on path: MediaPath) {
        // What is lost here the peer sends again.
        if transport.isHandshaking, waitingSteps >= Self.maximumWaitingSteps { return }
        if dtls == nil, unsafe datagram.isClientHello, !state.peer.isDTLSClient { dtls = makeConnection(.server) }
        guard let dtls else { return }
        transport.follow(path)
        unsafe run(dtls, taking: [UInt8](datagram))
    }

    /// The session is over.
    /// - Parameter copies: of the close_notify, for a peer that may miss the first.
    /// - Returns: the last datagrams.
    func close(copies: Int) -> [[UInt8]] {
        timer?.cancel()
        dtls?.close(copies: copies)
        return dtls?.takeOutgoing() ?? []
    }

    private func makeConnection(_ role: DTLSConnection.Role) -> DTLSConnection? {
        attempts += 1
        guard attempts <= Self.maximumAttempts else { return nil }
        do throws(DTLSError) {
            let connection = try DTLSConnection(
                port.certificateContexts.context(for: state.certificate), role: role, expecting: state.peer.fingerprints)
            dtls = connection
            return connection
        } catch {
            transport.end(.refused(Refusal(.internalError)))
            return nil
        }
    }

    // MARK: - Steps

    private func run(_ connection: DTLSConnection, taking datagram: [UInt8]) {
        run(connection) { connection throws(DTLSError) in
            try unsafe datagram.withUnsafeBufferPointer { bytes throws(DTLSError) in
                try unsafe connection.receive(UnsafeRawBufferPointer(bytes))
            }
        }
    }

    /// One step, within the loop's budget of handshakes: now or in its turn.
    ///
    /// A step that waits keeps its transport until then. Weakly held it would have a side table, and every packet's counts pay
    /// for that as long as the session lives.
    /// - Returns: false when too many of all sessions wait; the step will not run.
    @discardableResult
    private func run(
        _ connection: DTLSConnection, _ step: @escaping (DTLSConnection) throws(DTLSError) -> DTLSConnection.Event
    ) -> Bool {
        guard transport.isHandshaking else {
            carryOut(connection, step)
            return true
        }
        waitingSteps += 1
        let source = transport.path.remote.ip
        let isAccepted = HandshakeScheduler.of(port.loop).perform(.authenticated, from: source) { [self, transport] in
            waitingSteps -= 1
            guard !transport.isClosed, dtls === connection else { return }
            carryOut(connection, step)
        }
        if !isAccepted { waitingSteps -= 1 }
        return isAccepted
    }

    /// The same for a step of ours, which no datagram of the peer's would bring again.
    private func insist(
        on connection: DTLSConnection, _ step: @escaping (DTLSConnection) throws(DTLSError) -> DTLSConnection.Event
    ) {
        if run(connection, step) { return }
        timer = port.loop.schedule(after: Self.retryInterval) { [unowned self] in
            if dtls === connection { insist(on: connection, step) }
        }
    }

    private func carryOut(_ connection: DTLSConnection, _ step: (DTLSConnection) throws(DTLSError) -> DTLSConnection.Event) {
        do throws(DTLSError) {
            let event = try step(connection)
            if case .completed = event { roundTrip = flightSentAt.map { port.loop.now - $0 } }
            sendFlights(of: connection)
            take(event)
        } catch {
            sendFlights(of: connection)
            failed(error)
        }
    }

    private func sendFlights(of connection: DTLSConnection) {
        let datagrams = connection.takeOutgoing()
        for datagram in datagrams { unsafe datagram.withUnsafeBytes { unsafe transport.send($0) } }
        // On a long way the answer is to what was sent first.
        if !datagrams.isEmpty, !connection.isRepeating { flightSentAt = port.loop.now }
        timer?.cancel()
        timer = nil
        guard let timeout = connection.timeout else { return }
        timer = port.loop.schedule(after: timeout) { [unowned self] in
            guard let dtls else { return }
            insist(on: dtls) { connection throws(DTLSError) in
                try connection.timeoutExpired()
                return .none
            }
        }
    }

    // MARK: - What comes of it

    private func take(_ event: DTLSConnection.Event) {
        switch event {
        case .none: break
        case .closedByPeer: transport.end(.closed)
        case .completed(let profile, let exported): transport.handshakeCompleted(profile, exported, at: port.loop.now)
        }
    }

    /// A wrong certificate ends the session; anything else leaves it waiting for another ClientHello until its time is up.
    private func failed(_ error: DTLSError) {
        port.context.metrics.failedHandshakes.increment()
        if error == .fingerprintMismatch { return transport.end(.refused(Refusal(.wrongFingerprint))) }
        if error == .noSRTPProfile { return transport.end(.refused(Refusal(.noSRTPProfile))) }
        dtls = nil
        timer?.cancel()
        if state.peer.isDTLSClient { start() }
    }

    /// A handshake that broke may be begun again a few times within its lifetime.
    private static let maximumAttempts = 4
    /// A flight has five messages at most (RFC 6347 §4.2.4), of which the certificate may take two datagrams or three.
    static let maximumWaitingSteps = 8
    private static let retryInterval: Duration = .milliseconds(100)
}
