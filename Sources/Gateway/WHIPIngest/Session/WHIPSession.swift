import GatewayMetrics
import Sockets
import Admission
import DTLS
import EventLoop
import Refusals
import SRTP
import StageHub
import Wire

/// One WHIP publisher on the worker that owns it: DTLS and SRTP in, media to the hub, feedback out.
///
/// Not Sendable on purpose: other threads reach it through its `SessionEntry` and the worker's mailbox.
final class WHIPSession {
    let entry: SessionEntry
    unowned let port: MediaPort
    let receiver: MediaReceiver
    private let createdAt: MonotonicTime
    var lifecycle = SessionLifecycle()
    var dtls: DTLSConnection?
    var handshakeTimer: TimerWatch?
    var inbound: SRTPInbound?
    var outbound: SRTPOutbound?
    private(set) var publication: Publication?
    /// Where we send: the validated tuple on which the last genuine packet came.
    var path: MediaPath
    /// Tuples from which a check of this session came, here or on another worker.
    private var validated: [MediaPath] = []
    private let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: scratchByteCount, alignment: 8)
    var attempts = 0
    private var inspector: (any PacketInspector)?

    init(entry: SessionEntry, port: MediaPort, path: MediaPath, now: MonotonicTime) {
        (self.entry, self.port, self.path, createdAt) = (entry, port, path, now)
        receiver = MediaReceiver(
            offer: entry.offer, maximumBitrate: port.plane.configuration.maximumBitrate, metrics: port.plane.metrics)
    }

    deinit { scratch.deallocate() }

    var isMissingPackets: Bool { receiver.isMissingPackets }

    // MARK: - Tuples

    func tupleValidated(_ path: MediaPath, at now: MonotonicTime) {
        entry.heard(at: now)
        guard !validated.contains(path) else { return }
        if validated.count >= Self.maximumTuples { validated.removeFirst() }
        validated.append(path)
        // Retransmissions of our flights follow the tuple validated last until one has carried something genuine.
        if lifecycle.isHandshaking, entry.offer.isDTLSClient { self.path = path }
    }

    private func genuinePacket(on path: MediaPath, at now: MonotonicTime) {
        entry.heard(at: now)
        if self.path != path { self.path = path }
    }

    // MARK: - Lifecycle

    func perform(_ action: SessionLifecycle.Action) {
        switch action {
        case .none: break
        case .claimLease(let takesOver): claimLease(takesOver: takesOver)
        case .startForwarding: startForwarding()
        case .tearDown(let reason): tearDown(reason)
        }
    }

    private func claimLease(takesOver: Bool) {
        let (entry, plane, worker) = (entry, port.plane, port.index)
        plane.leases.claimPublish(entry.grant, protocol: .whip, holder: entry, takeOver: takesOver) { answer in
            plane.send(.claimed(entry, answer), to: worker)
        }
    }

    func leaseAnswered(_ answer: ClaimAnswer) {
        switch answer {
        case .granted(let lease):
            if lifecycle.isClosed { return port.plane.leases.release(lease) }
            entry.content.withLock { $0.lease = lease }
            recordTakeover()
            perform(lifecycle.leaseGranted())
        case .held: claimLease(takesOver: true)
        case .refused(let refusal): end(.refused(refusal))
        }
    }

    /// Who keeps taking a participant from somebody else is told to stop (DESIGN 7).
    private func recordTakeover() {
        guard let incumbent = entry.content.withLock({ $0.incumbent }) else { return }
        let now = port.loop.now
        port.plane.takeovers.withLock {
            $0.record(entry.grant.participantID, from: incumbent, by: entry.source.ip, now: now)
        }
    }

    private func startForwarding() {
        guard let lease = entry.content.withLock({ $0.lease }) else { return }
        entry.note(.leaseGranted)
        SessionLog.started(entry, peer: path.remote)
        let publication = Publication(grant: entry.grant, lease: lease, ingestProtocol: .whip, timeline: Timeline())
        publication.source = self
        publication.setFormat(.h264Offered(profileLevelID: entry.offer.video.profileLevelID), of: .video)
        if let audio = entry.offer.audio { publication.setFormat(.opus(isStereo: audio.isStereo), of: .audio) }
        self.publication = publication
        inspector = port.host?.makeInspector(for: entry.grant, lease, entry.request, offer: entry.offerDigest)
        receiver.begin(publication, inspector: inspector)
        port.host?.publishBegan(publication)
    }

    func end(_ reason: PublicationEnd) { perform(lifecycle.ended(reason)) }

    /// DTLS is closed so that OBS reconnects or stops cleanly; ICE is left to itself (field list 1.7).
    private func tearDown(_ reason: PublicationEnd) {
        handshakeTimer?.cancel()
        dtls?.close()
        for datagram in dtls?.takeOutgoing() ?? [] { datagram.withUnsafeBytes { port.send($0, on: path) } }
        if let publication {
            publication.end(reason)
            port.host?.publishEnded(publication, reason)
        }
        publication = nil
        receiver.stop()
        _ = entry.markEnded()
        port.forget(self)
        port.plane.finish(entry, reason)
    }

    // MARK: - Media

    func receiveMedia(_ packet: UnsafeMutableRawBufferPointer, on path: MediaPath, at now: MonotonicTime) {
        guard unprotect(packet, at: now) else { return }
        genuinePacket(on: path, at: now)
    }

    /// From a tuple without a check: genuine packets are taken, but nothing is sent there before its check.
    func receiveRebound(_ packet: UnsafeMutableRawBufferPointer, at now: MonotonicTime) {
        guard now - entry.lastHeard <= .seconds(10), unprotect(packet, at: now) else { return }
        entry.heard(at: now)
    }

    /// Removes SRTP where the packet lies and hands it on; false when it is not genuine.
    private func unprotect(_ packet: UnsafeMutableRawBufferPointer, at now: MonotonicTime) -> Bool {
        guard inbound != nil else { return false }
        let isControl = UnsafeRawBufferPointer(packet).isRTCP
        do throws(SRTPError) {
            let count = isControl ? try inbound!.unprotectControl(packet) : try inbound!.unprotect(packet)
            let plain = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(packet)[..<count])
            if isControl { receiver.receiveControl(plain, at: now) } else { receivePlain(plain, at: now) }
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

    private func receivePlain(_ packet: UnsafeRawBufferPointer, at now: MonotonicTime) {
        switch receiver.receive(packet, at: now) {
        case .nothing: break
        case .gathered(let isFirst): if isFirst { port.gathering.append(self) }
        case .refused(let refusal): end(.refused(refusal))
        }
        if !receiver.newSources.isEmpty {
            for ssrc in receiver.newSources { port.register(source: ssrc, of: self) }
            receiver.newSources.removeAll()
        }
        if receiver.takeStart() { reportStart() }
        if let step = receiver.takeStep() { noteProgress(step, at: now) }
    }

    private func noteProgress(_ step: SessionStory.Step, at now: MonotonicTime) {
        entry.note(step, peer: path.remote)
    }

    /// One second of media followed a decodable keyframe: the publish is real.
    private func reportStart() {
        if let lease = publication?.lease { port.plane.reports?.publishStarted(lease) }
    }

    /// Hands on what the batch brought; its bytes are still where they were received.
    func flush() { receiver.flush(for: entry) }

    // MARK: - Time

    func tick(at now: MonotonicTime, isSlow: Bool) {
        if isSlow, isOverdue(at: now) { return end(.connectionLost) }
        guard lifecycle.isLive else { return }
        if isSlow, let refusal = inspector?.timePassed(now) { return end(.refused(refusal)) }
        let feedback = receiver.feedback(at: now)
        if !feedback.isEmpty { sendControl(feedback) }
    }

    private func isOverdue(at now: MonotonicTime) -> Bool {
        let configuration = port.plane.configuration
        if lifecycle.isHandshaking, now - createdAt > configuration.handshakeLifetime { return true }
        return now - entry.lastHeard > configuration.silence
    }

    private func sendControl(_ compound: [UInt8]) {
        guard outbound != nil, compound.count + SRTPOutbound.trailerByteCount <= scratch.count else { return }
        scratch.copyBytes(from: compound)
        guard let count = try? outbound!.protectControl(scratch, count: compound.count) else { return }
        port.send(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(scratch)[..<count]), on: path)
    }

    /// Chromium gathers 5 to 10 pairs; libnice nominates several of them.
    private static let maximumTuples = 16
    /// A handshake that broke may be begun again a few times within its lifetime.
    static let maximumAttempts = 4
    private static let scratchByteCount = 1_500
}

extension WHIPSession: MediaSource {
    var canRequestKeyframe: Bool { receiver.canRequestKeyframe }
    func requestKeyframe(_ track: TrackID) { receiver.wantKeyframe() }
    func limitBitrate(_ bitsPerSecond: Int?) { receiver.limitBitrate(bitsPerSecond) }
}
