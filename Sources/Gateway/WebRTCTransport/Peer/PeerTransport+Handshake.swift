import DTLS
import EventLoop
import GatewayMetrics
import Refusals
import SRTP
import Sockets
import Wire

/// DTLS of a session, in either role, within the loop's handshake budget; its keys end up in the session's SRTP contexts.
extension PeerTransport {
    /// As DTLS client: sends the ClientHello, right after the binding response.
    func startHandshake(at now: MonotonicTime) {
        guard dtls == nil, let dtls = makeConnection(.client) else { return }
        run(dtls) { connection throws(DTLSError) in
            try connection.start()
            return .none
        }
    }

    func receiveDTLS(_ datagram: UnsafeRawBufferPointer, on path: MediaPath, at now: MonotonicTime) {
        guard phase != .closed else { return }
        if dtls == nil, datagram.isClientHello, !entry.transport.peer.isDTLSClient { dtls = makeConnection(.server) }
        guard let dtls else { return }
        if phase == .handshaking { self.path = path }
        run(dtls, taking: [UInt8](datagram))
    }

    private func makeConnection(_ role: DTLSConnection.Role) -> DTLSConnection? {
        attempts += 1
        guard attempts <= Self.maximumAttempts else { return nil }
        do throws(DTLSError) {
            let connection = try DTLSConnection(
                port.context(for: entry.transport.certificate), role: role, expecting: entry.transport.peer.fingerprints)
            dtls = connection
            return connection
        } catch {
            end(.refused(Refusal(.internalError)))
            return nil
        }
    }

    private func run(_ connection: DTLSConnection, taking datagram: [UInt8]) {
        run(connection) { connection throws(DTLSError) in
            try datagram.withUnsafeBufferPointer { bytes throws(DTLSError) in
                try connection.receive(UnsafeRawBufferPointer(bytes))
            }
        }
    }

    /// One step, within the loop's budget of handshakes: now or in its turn.
    ///
    /// A step that waits keeps its transport until then. Weakly held it would have a side table, and every packet's counts pay for
    /// that as long as the session lives.
    private func run(
        _ connection: DTLSConnection, _ step: @escaping (DTLSConnection) throws(DTLSError) -> DTLSConnection.Event
    ) {
        guard phase == .handshaking else { return carryOut(connection, step) }
        HandshakeScheduler.of(port.loop).perform(.authenticated, from: path.remote.ip) { [self] in
            guard phase != .closed, dtls === connection else { return }
            carryOut(connection, step)
        }
    }

    private func carryOut(_ connection: DTLSConnection, _ step: (DTLSConnection) throws(DTLSError) -> DTLSConnection.Event) {
        do throws(DTLSError) {
            let event = try step(connection)
            if case .completed = event { handshakeRoundTrip = flightSentAt.map { port.loop.now - $0 } }
            sendFlights(of: connection)
            handle(event, at: port.loop.now)
        } catch {
            sendFlights(of: connection)
            handshakeFailed(error)
        }
    }

    private func sendFlights(of connection: DTLSConnection) {
        for datagram in connection.takeOutgoing() {
            datagram.withUnsafeBytes { port.send($0, on: path) }
            flightSentAt = port.loop.now
        }
        handshakeTimer?.cancel()
        handshakeTimer = nil
        guard let timeout = connection.timeout else { return }
        handshakeTimer = port.loop.schedule(after: timeout) { [unowned self] in
            guard let dtls else { return }
            run(dtls) { connection throws(DTLSError) in
                try connection.timeoutExpired()
                return .none
            }
        }
    }

    private func handle(_ event: DTLSConnection.Event, at now: MonotonicTime) {
        switch event {
        case .none: break
        case .closedByPeer: end(.closed)
        case .completed(let profile, let exported):
            entry.transport.heard(at: now)
            install(profile, exported)
        }
    }

    /// A wrong certificate ends the session; anything else leaves it waiting for another ClientHello until its time is up.
    private func handshakeFailed(_ error: DTLSError) {
        port.plane.metrics.failedHandshakes.increment()
        if error == .fingerprintMismatch { return end(.refused(Refusal(.wrongFingerprint))) }
        if error == .noSRTPProfile { return end(.refused(Refusal(.noSRTPProfile))) }
        dtls = nil
        handshakeTimer?.cancel()
        if entry.transport.peer.isDTLSClient { startHandshake(at: port.loop.now) }
    }

    private func install(_ number: UInt16, _ exported: Secret) {
        guard let profile = SRTPProfile(rawValue: number) else { return end(.refused(Refusal(.noSRTPProfile))) }
        let keys = SRTPKeys.pair(exported: exported, profile: profile)
        let (theirs, ours) = entry.transport.peer.isDTLSClient ? (keys.server, keys.client) : (keys.client, keys.server)
        do throws(SRTPError) {
            inbound = try SRTPInbound(theirs)
            outbound = try SRTPOutbound(ours)
        } catch { return end(.refused(Refusal(.internalError))) }
        guard phase == .handshaking else { return }
        phase = .ready
        entry.transport.becameReady()
        entry.reached(.handshakeDone, peer: path.remote)
        session?.transportReady()
    }
}
