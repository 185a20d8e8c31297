public import EventLoop
import GatewayMetrics
public import Refusals
import SRTP
import Settings
import Sockets
import Wire

/// The transport of one session on the worker that owns it: tuples, keys, SRTP in and out (RFC 8835 §3).
///
/// Not Sendable on purpose: other threads reach it through its `TransportEntry` and the worker's mailbox.
public final class PeerTransport {
    /// The session as other threads see it.
    public let entry: any TransportEntry
    /// The entry's, here because every packet needs it.
    private let state: TransportState
    /// Keeps its transports until they end, and so outlives this one.
    public unowned let port: MediaPort
    /// What is done with the media; the transport keeps it alive.
    public internal(set) var session: (any TransportSession)?
    /// Where we send: the validated tuple on which the last genuine packet came.
    public private(set) var path: MediaPath
    /// Tuples from which a check of this session came, here or on another worker.
    private var validated: [MediaPath] = []
    /// The media sources by which the directory finds this session.
    var sources: [UInt32] = []
    /// Tuples without a check whose worker was told of this session.
    private var rebound: [MediaPath] = []
    private let createdAt: MonotonicTime
    private var phase = Phase.handshaking
    private lazy var handshake = PeerHandshake(of: self)
    private var inbound: SRTPInbound?
    private var outbound: SRTPOutbound?

    private enum Phase { case handshaking, ready, closed }

    init(entry: any TransportEntry, port: MediaPort, path: MediaPath, now: MonotonicTime) {
        (self.entry, self.port, self.path, createdAt) = (entry, port, path, now)
        state = entry.transport
    }

    public var loop: EventLoop { port.loop }
    /// It has ended.
    public var isClosed: Bool { phase == .closed }
    var isHandshaking: Bool { phase == .handshaking }
    /// From our last flight to what it was answered with: the first idea of the way's length.
    public var handshakeRoundTrip: Duration? { handshake.roundTrip }
    var isMissingPackets: Bool { session?.isMissingPackets ?? false }

    // MARK: - Tuples

    func tupleValidated(_ path: MediaPath, at now: MonotonicTime) {
        state.heard(at: now)
        guard !validated.contains(path) else { return }
        if validated.count >= TupleTable.maximumPerSession { validated.removeFirst() }
        validated.append(path)
        // Retransmissions of our flights follow the tuple validated last until one has carried something genuine.
        if state.peer.isDTLSClient { follow(path) }
    }

    /// Our flights go to the tuple from which the handshake goes on.
    func follow(_ path: MediaPath) {
        if phase == .handshaking { self.path = path }
    }

    private func genuinePacket(on path: MediaPath, at now: MonotonicTime) {
        state.heard(at: now)
        if self.path != path { self.path = path }
    }

    // MARK: - Handshake

    /// As DTLS client: the binding response has just been sent.
    func startHandshake() { handshake.start() }

    func receiveDTLS(_ datagram: UnsafeRawBufferPointer, on path: MediaPath) {
        guard phase != .closed else { return }
        unsafe handshake.receive(datagram, on: path)
    }

    /// The fingerprint fits; `exported` are the keys of both directions (RFC 5764 §4.2).
    func handshakeCompleted(_ number: UInt16, _ exported: Secret, at now: MonotonicTime) {
        state.heard(at: now)
        guard let profile = SRTPProfile(rawValue: number) else { return end(.refused(Refusal(.noSRTPProfile))) }
        let keys = SRTPKeys.pair(exported: exported, profile: profile)
        let (theirs, ours) = state.peer.isDTLSClient ? (keys.server, keys.client) : (keys.client, keys.server)
        do throws(SRTPError) {
            inbound = try SRTPInbound(theirs)
            outbound = try SRTPOutbound(ours)
        } catch { return end(.refused(Refusal(.internalError))) }
        guard phase == .handshaking else { return }
        phase = .ready
        state.becameReady()
        entry.reached(.handshakeDone, peer: path.remote)
        session?.transportReady()
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
        guard now - state.lastHeard <= port.context.configuration.whip.consentTimeout, unsafe unprotect(packet, at: now)
        else {
            return false
        }
        state.heard(at: now)
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
        let scratch = unsafe port.scratch
        guard outbound != nil, compound.count + SRTPOutbound.trailerByteCount <= scratch.count else { return }
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
    /// The longest datagram that we send: Opus by RTMP is one RTP packet of up to 8,192 bytes (RFC 7587), to which headers and
    /// SRTP add less than 256.
    public static let maximumDatagramByteCount = 8_192 + 256

    // MARK: - Time and end

    func look(at now: MonotonicTime) {
        if let reason = state.untoldEnd { return end(reason) }
        if isOverdue(at: now) { return end(.connectionLost) }
        if phase == .ready { session?.look(at: now) }
    }

    func sendFeedback(at now: MonotonicTime) {
        if phase == .ready { session?.sendFeedback(at: now) }
    }

    private func isOverdue(at now: MonotonicTime) -> Bool {
        let settings = port.context.configuration.whip
        if phase == .handshaking, now - createdAt > settings.handshakeTimeout { return true }
        return now - state.lastHeard > settings.consentTimeout
    }

    /// DTLS is closed so that OBS reconnects or stops cleanly; ICE is left to itself.
    public func end(_ reason: SessionEnd) {
        guard phase != .closed else { return }
        phase = .closed
        let isSilent = reason == .connectionLost && !path.isStream
        let copies = isSilent ? 1 + Farewells.recordCount : 1
        var records = handshake.close(copies: entry.takesCloseNotify ? copies : 0)
        if isSilent, records.count > 1 {
            // Nobody may be there to hear the first.
            port.context.sendToAll(.farewell(Array(records[1...]), path))
            records.removeSubrange(1...)
        }
        for datagram in records { unsafe datagram.withUnsafeBytes { unsafe send($0) } }
        session?.transportEnded(reason)
        _ = state.markEnded()
        port.forget(self)
        entry.finishOnce(reason)
    }
}
