import DTLS
public import EventLoop
import GatewayMetrics
import OpenSSL
public import Refusals
import Settings
import SRTP
import Sockets
import Wire

/// The transport of one session on the worker that owns it: tuples, DTLS, SRTP in and out (RFC 8835 §3).
///
/// Not Sendable on purpose: other threads reach it through its `TransportEntry` and the worker's mailbox.
@safe public final class PeerTransport {
    public let entry: any TransportEntry
    /// The entry's, here because every packet needs it.
    private let state: TransportState
    public unowned let port: MediaPort
    /// What is done with the media; the transport keeps it alive.
    public internal(set) var session: (any TransportSession)?
    /// Where we send: the validated tuple on which the last genuine packet came.
    public private(set) var path: MediaPath
    /// Tuples from which a check of this session came, here or on another worker.
    private var validated: [MediaPath] = []
    /// Under which the directory knows this session.
    var sources: [UInt32] = []
    /// Tuples without a check whose worker was told of this session.
    private var rebound: [MediaPath] = []
    private let createdAt: MonotonicTime
    private var phase = Phase.handshaking
    private var dtls: DTLSConnection?
    private var handshakeTimer: TimerWatch?
    /// Steps of the handshake that wait for their turn.
    private var waitingSteps = 0
    private var inbound: SRTPInbound?
    private var outbound: SRTPOutbound?
    private var attempts = 0
    /// From our last flight to what it was answered with: the first idea of the way's length.
    public private(set) var handshakeRoundTrip: Duration?
    private var flightSentAt: MonotonicTime?
    private let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: scratchByteCount, alignment: 8)

    private enum Phase { case handshaking, ready, closed }

    init(entry: any TransportEntry, port: MediaPort, path: MediaPath, now: MonotonicTime) {
        (self.entry, self.port, self.path, createdAt) = (entry, port, path, now)
        state = entry.transport
    }

    deinit { unsafe scratch.deallocate() }

    public var loop: EventLoop { port.loop }
    public var isClosed: Bool { phase == .closed }
    var wantsEveryTick: Bool { session?.wantsEveryTick ?? false }

    // MARK: - Tuples

    func tupleValidated(_ path: MediaPath, at now: MonotonicTime) {
        entry.transport.heard(at: now)
        guard !validated.contains(path) else { return }
        if validated.count >= TupleTable.maximumPerSession { validated.removeFirst() }
        validated.append(path)
        // Retransmissions of our flights follow the tuple validated last until one has carried something genuine.
        if phase == .handshaking, entry.transport.peer.isDTLSClient { self.path = path }
    }

    private func genuinePacket(on path: MediaPath, at now: MonotonicTime) {
        state.heard(at: now)
        if self.path != path { self.path = path }
    }

    // MARK: - Receiving

    /// - Returns: whether it was genuine.
    func receiveMedia(_ packet: UnsafeMutableRawBufferPointer, on path: MediaPath, at now: MonotonicTime) -> Bool {
        guard unsafe unprotect(packet, at: now) else { return false }
        genuinePacket(on: path, at: now)
        return true
    }

    /// From a tuple without a check: genuine packets are taken, but nothing is sent there before its check.
    /// - Returns: whether it was one.
    func receiveRebound(_ packet: UnsafeMutableRawBufferPointer, at now: MonotonicTime) -> Bool {
        guard now - entry.transport.lastHeard <= port.context.configuration.whip.consentTimeout, unsafe unprotect(packet, at: now)
        else {
            return false
        }
        entry.transport.heard(at: now)
        return true
    }

    /// True the first time that something genuine came over that tuple.
    func isNewlyRebound(to path: MediaPath) -> Bool {
        guard !rebound.contains(path) else { return false }
        if rebound.count >= TupleTable.maximumPerSession { rebound.removeFirst() }
        rebound.append(path)
        return true
    }

    /// Removes SRTP where the packet lies and hands it on; false when it is not genuine.
    private func unprotect(_ packet: UnsafeMutableRawBufferPointer, at now: MonotonicTime) -> Bool {
        guard let session else { return false }
        let isControl = UnsafeRawBufferPointer(packet).isRTCP
        do throws(SRTPError) {
            let length = unsafe isControl ? try inbound?.unprotectControl(packet) : try inbound?.unprotect(packet)
            guard let count = length else { return false }
            let plain = unsafe UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(packet)[..<count])
            if isControl { unsafe session.receiveControl(plain, at: now) } else { unsafe session.receiveMedia(plain, at: now) }
            return true
        } catch {
            // Counted and dropped: bad packets never end a session.
            switch error {
            case .replayed, .tooOld: port.context.metrics.replays.increment()
            default: port.context.metrics.authenticationFailures.increment()
            }
            return false
        }
    }

    /// Asks for a `flush` of the session when the batch at hand has been received.
    public func gather() { port.gather(self) }

    /// A genuine packet of a new source came: SRTP of it may be tried from unknown tuples.
    public func register(source ssrc: UInt32) { port.register(source: ssrc, of: self) }

    func flush() { session?.flush() }

    // MARK: - Sending

    /// Protects a compound RTCP packet and sends it; too long a one is dropped.
    public func sendControl(_ compound: [UInt8]) {
        guard outbound != nil, unsafe compound.count + SRTPOutbound.trailerByteCount <= scratch.count else { return }
        unsafe scratch.copyBytes(from: compound)
        guard let count = try? unsafe outbound?.protectControl(scratch, count: compound.count) else { return }
        unsafe send(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(scratch)[..<count]))
    }

    /// Protects the first `count` bytes of `buffer`, an RTP packet, in place.
    /// - Parameter buffer: `protectionByteCount` longer than the packet at least.
    /// - Returns: the length of the protected packet; nil before the keys are there, and when they are used up.
    public func protect(_ buffer: UnsafeMutableRawBufferPointer, count: Int) -> Int? {
        try? unsafe outbound?.protect(buffer, count: count)
    }

    /// Sends a datagram that is protected already.
    public func send(_ datagram: UnsafeRawBufferPointer) { unsafe port.send(datagram, on: path) }

    /// The most that `protect` adds.
    public static let protectionByteCount = SRTPOutbound.trailerByteCount

    // MARK: - Time and end

    func tick(at now: MonotonicTime, isSlow: Bool) {
        if isSlow, let reason = state.untoldEnd { return end(reason) }
        if isSlow, isOverdue(at: now) { return end(.connectionLost) }
        if phase == .ready { session?.tick(at: now, isSlow: isSlow) }
    }

    private func isOverdue(at now: MonotonicTime) -> Bool {
        let settings = port.context.configuration.whip
        if phase == .handshaking, now - createdAt > settings.handshakeTimeout { return true }
        return now - entry.transport.lastHeard > settings.consentTimeout
    }

    /// DTLS is closed so that OBS reconnects or stops cleanly; ICE is left to itself.
    public func end(_ reason: SessionEnd) {
        guard phase != .closed else { return }
        phase = .closed
        handshakeTimer?.cancel()
        let isSilent = reason == .connectionLost && !path.isStream
        dtls?.close(copies: isSilent ? 1 + Farewells.recordCount : 1)
        var records = dtls?.takeOutgoing() ?? []
        if isSilent, records.count > 1 {
            // Nobody may be there to hear the first.
            port.context.sendToAll(.farewell(Array(records[1...]), path))
            records.removeSubrange(1...)
        }
        for datagram in records { unsafe datagram.withUnsafeBytes { unsafe send($0) } }
        session?.transportEnded(reason)
        _ = entry.transport.markEnded()
        port.forget(self)
        entry.conclude(reason)
    }

    /// A handshake that broke may be begun again a few times within its lifetime.
    private static let maximumAttempts = 4
    /// A flight has five messages at most (RFC 6347 §4.2.4), of which the certificate may take two datagrams or three.
    static let maximumWaitingSteps = 8
    private static let retryInterval: Duration = .milliseconds(100)
    private static let scratchByteCount = 1_500
}

/// DTLS of a session, in either role, within the loop's handshake budget; its keys end up in the session's SRTP contexts.
extension PeerTransport {
    /// As DTLS client: sends the ClientHello, right after the binding response.
    func startHandshake() {
        guard dtls == nil, let dtls = makeConnection(.client) else { return }
        insist(on: dtls) { connection throws(DTLSError) in
            try connection.start()
            return .none
        }
    }

    func receiveDTLS(_ datagram: UnsafeRawBufferPointer, on path: MediaPath) {
        guard phase != .closed else { return }
        // What is lost here the peer sends again.
        if phase == .handshaking, waitingSteps >= Self.maximumWaitingSteps { return }
        if dtls == nil, unsafe datagram.isClientHello, !entry.transport.peer.isDTLSClient { dtls = makeConnection(.server) }
        guard let dtls else { return }
        if phase == .handshaking { self.path = path }
        unsafe run(dtls, taking: [UInt8](datagram))
    }

    private func makeConnection(_ role: DTLSConnection.Role) -> DTLSConnection? {
        attempts += 1
        guard attempts <= Self.maximumAttempts else { return nil }
        do throws(DTLSError) {
            let connection = try DTLSConnection(
                port.certificateContexts.context(for: entry.transport.certificate), role: role,
                expecting: entry.transport.peer.fingerprints)
            dtls = connection
            return connection
        } catch {
            end(.refused(Refusal(.internalError)))
            return nil
        }
    }

    private func run(_ connection: DTLSConnection, taking datagram: [UInt8]) {
        run(connection) { connection throws(DTLSError) in
            try unsafe datagram.withUnsafeBufferPointer { bytes throws(DTLSError) in
                try unsafe connection.receive(UnsafeRawBufferPointer(bytes))
            }
        }
    }

    /// One step, within the loop's budget of handshakes: now or in its turn.
    ///
    /// A step that waits keeps its transport until then. Weakly held it would have a side table, and every packet's counts pay for
    /// that as long as the session lives.
    /// - Returns: false when too many of all sessions wait; the step will not run.
    @discardableResult
    private func run(
        _ connection: DTLSConnection, _ step: @escaping (DTLSConnection) throws(DTLSError) -> DTLSConnection.Event
    ) -> Bool {
        guard phase == .handshaking else {
            carryOut(connection, step)
            return true
        }
        waitingSteps += 1
        let isAccepted = HandshakeScheduler.of(port.loop).perform(.authenticated, from: path.remote.ip) { [self] in
            waitingSteps -= 1
            guard phase != .closed, dtls === connection else { return }
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
        handshakeTimer = port.loop.schedule(after: Self.retryInterval) { [unowned self] in
            if dtls === connection { insist(on: connection, step) }
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
            unsafe datagram.withUnsafeBytes { unsafe port.send($0, on: path) }
            flightSentAt = port.loop.now
        }
        handshakeTimer?.cancel()
        handshakeTimer = nil
        guard let timeout = connection.timeout else { return }
        handshakeTimer = port.loop.schedule(after: timeout) { [unowned self] in
            guard let dtls else { return }
            insist(on: dtls) { connection throws(DTLSError) in
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
        port.context.metrics.failedHandshakes.increment()
        if error == .fingerprintMismatch { return end(.refused(Refusal(.wrongFingerprint))) }
        if error == .noSRTPProfile { return end(.refused(Refusal(.noSRTPProfile))) }
        dtls = nil
        handshakeTimer?.cancel()
        if entry.transport.peer.isDTLSClient { startHandshake() }
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
