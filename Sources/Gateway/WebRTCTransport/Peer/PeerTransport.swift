import DTLS
public import EventLoop
import GatewayMetrics
import OpenSSL
public import Refusals
import Settings
import SRTP
import Wire

/// The transport of one session on the worker that owns it: tuples, DTLS, SRTP in and out (RFC 8835 §3).
///
/// Not Sendable on purpose: other threads reach it through its `TransportEntry` and the worker's mailbox.
public final class PeerTransport {
    public let entry: any TransportEntry
    /// The entry's, here because every packet needs it.
    private let state: TransportState
    public unowned let port: MediaPort
    /// What is done with the media; the transport keeps it alive.
    public internal(set) var session: (any TransportSession)?
    /// Where we send: the validated tuple on which the last genuine packet came.
    public internal(set) var path: MediaPath
    /// Tuples from which a check of this session came, here or on another worker.
    private var validated: [MediaPath] = []
    /// Under which the directory knows this session.
    var sources: [UInt32] = []
    /// Tuples without a check whose worker was told of this session.
    private var rebound: [MediaPath] = []
    private let createdAt: MonotonicTime
    var phase = Phase.handshaking
    var dtls: DTLSConnection?
    var handshakeTimer: TimerWatch?
    var inbound: SRTPInbound?
    var outbound: SRTPOutbound?
    var attempts = 0
    /// From our last flight to what it was answered with: the first idea of the way's length.
    public internal(set) var handshakeRoundTrip: Duration?
    var flightSentAt: MonotonicTime?
    private let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: scratchByteCount, alignment: 8)

    enum Phase { case handshaking, ready, closed }

    init(entry: any TransportEntry, port: MediaPort, path: MediaPath, now: MonotonicTime) {
        (self.entry, self.port, self.path, createdAt) = (entry, port, path, now)
        state = entry.transport
    }

    deinit { scratch.deallocate() }

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
        guard unprotect(packet, at: now) else { return false }
        genuinePacket(on: path, at: now)
        return true
    }

    /// From a tuple without a check: genuine packets are taken, but nothing is sent there before its check.
    /// - Returns: whether it was one.
    func receiveRebound(_ packet: UnsafeMutableRawBufferPointer, at now: MonotonicTime) -> Bool {
        guard now - entry.transport.lastHeard <= port.plane.configuration.whip.consentTimeout, unprotect(packet, at: now) else {
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
            let length = isControl ? try inbound?.unprotectControl(packet) : try inbound?.unprotect(packet)
            guard let count = length else { return false }
            let plain = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(packet)[..<count])
            if isControl { session.receiveControl(plain, at: now) } else { session.receiveMedia(plain, at: now) }
            return true
        } catch {
            // Counted and dropped: bad packets never end a session.
            switch error {
            case .replayed, .tooOld: port.plane.metrics.replays.increment()
            default: port.plane.metrics.authenticationFailures.increment()
            }
            return false
        }
    }

    /// Asks for a `flush` of the session when the batch at hand has been received.
    public func gather() { port.gathering.append(self) }

    /// A genuine packet of a new source came: SRTP of it may be tried from unknown tuples.
    public func register(source ssrc: UInt32) { port.register(source: ssrc, of: self) }

    func flush() { session?.flush() }

    // MARK: - Sending

    /// Protects a compound RTCP packet and sends it; too long a one is dropped.
    public func sendControl(_ compound: [UInt8]) {
        guard outbound != nil, compound.count + SRTPOutbound.trailerByteCount <= scratch.count else { return }
        scratch.copyBytes(from: compound)
        guard let count = try? outbound!.protectControl(scratch, count: compound.count) else { return }
        send(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(scratch)[..<count]))
    }

    /// Protects the first `count` bytes of `buffer`, an RTP packet, in place.
    /// - Parameter buffer: `protectionByteCount` longer than the packet at least.
    /// - Returns: the length of the protected packet; nil before the keys are there, and when they are used up.
    public func protect(_ buffer: UnsafeMutableRawBufferPointer, count: Int) -> Int? {
        guard outbound != nil else { return nil }
        return try? outbound!.protect(buffer, count: count)
    }

    /// Sends a datagram that is protected already.
    public func send(_ datagram: UnsafeRawBufferPointer) { port.send(datagram, on: path) }

    /// The most that `protect` adds.
    public static let protectionByteCount = SRTPOutbound.trailerByteCount

    // MARK: - Time and end

    func tick(at now: MonotonicTime, isSlow: Bool) {
        if isSlow, isOverdue(at: now) { return end(.connectionLost) }
        if phase == .ready { session?.tick(at: now, isSlow: isSlow) }
    }

    private func isOverdue(at now: MonotonicTime) -> Bool {
        let settings = port.plane.configuration.whip
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
            port.plane.sendToAll(.farewell(Array(records[1...]), path))
            records.removeSubrange(1...)
        }
        for datagram in records { datagram.withUnsafeBytes { send($0) } }
        session?.transportEnded(reason)
        _ = entry.transport.markEnded()
        port.forget(self)
        entry.conclude(reason)
    }

    /// A handshake that broke may be begun again a few times within its lifetime.
    static let maximumAttempts = 4
    private static let scratchByteCount = 1_500
}
