import Admission
import EventLoop
import Refusals
import StageHub
import WebRTCTransport
import Wire

/// One WHIP publisher on the worker that owns it: media to the hub, feedback out.
///
/// Not Sendable on purpose: other threads reach it through its `SessionEntry` and the worker's mailbox.
final class WHIPSession: TransportSession {
    let entry: SessionEntry
    private unowned let transport: PeerTransport
    private unowned let sessions: WHIPSessions
    private var plane: WHIPPlane { entry.plane }
    let receiver: MediaReceiver
    private var lifecycle = SessionLifecycle()
    private(set) var publication: Publication?
    private var inspector: (any PacketInspector)?
    private var lastFigures: MonotonicTime = .zero
    private var hasToldOfKeyframes = false
    private let wishes: SinkWishes

    init(entry: SessionEntry, transport: PeerTransport, sessions: WHIPSessions) {
        (self.entry, self.transport, self.sessions) = (entry, transport, sessions)
        receiver = MediaReceiver(
            offer: entry.offer, maximumBitrate: entry.plane.configuration.maximumBitrate, metrics: entry.plane.metrics)
        wishes = SinkWishes(entry: entry, receiver: receiver)
    }

    var wantsEveryTick: Bool { receiver.isMissingPackets }

    // MARK: - Lifecycle

    func transportReady() {
        let hasLease = entry.content.withLock { $0.lease != nil }
        perform(lifecycle.handshakeCompleted(hasLease: hasLease))
    }

    private func perform(_ action: SessionLifecycle.Action) {
        switch action {
        case .none: break
        case .claimLease(let takesOver): claimLease(takesOver: takesOver)
        case .startForwarding: startForwarding()
        case .tearDown(let reason): tearDown(reason)
        }
    }

    private func claimLease(takesOver: Bool) {
        let (entry, plane, worker) = (entry, plane, transport.port.index)
        plane.leases.claimPublish(entry.grant, protocol: .whip, holder: entry, takeOver: takesOver) { answer in
            plane.transport.perform(with: entry, on: worker) { session in
                if let session = session as? WHIPSession { return session.leaseAnswered(answer) }
                if case .granted(let lease) = answer { plane.leases.release(lease) }
            }
        }
    }

    private func leaseAnswered(_ answer: ClaimAnswer) {
        switch answer {
        case .granted(let lease):
            if lifecycle.isClosed { return plane.leases.release(lease) }
            entry.content.withLock { $0.lease = lease }
            recordTakeover()
            perform(lifecycle.leaseGranted())
        case .held: claimLease(takesOver: true)
        case .refused(let refusal): end(.refused(refusal))
        }
    }

    /// Who keeps taking a participant from somebody else is told to stop (docs/design.md 7.3).
    private func recordTakeover() {
        guard let incumbent = entry.content.withLock({ $0.incumbent }) else { return }
        let now = transport.loop.now
        plane.takeovers.withLock {
            $0.record(entry.grant.participant, from: incumbent, by: entry.source.ip, now: now)
        }
    }

    private func startForwarding() {
        guard let lease = entry.content.withLock({ $0.lease }) else { return }
        entry.note(.leaseGranted)
        SessionLog.started(entry, peer: transport.path.remote)
        let publication = Publication(
            grant: entry.grant, lease: lease, ingestProtocol: .whip, origin: entry.origin, timeline: Timeline())
        if let roundTrip = transport.handshakeRoundTrip { publication.counters.measured(roundTrip: roundTrip) }
        publication.source = wishes
        publication.setFormat(.h264Offered(profileLevelID: entry.offer.video.profileLevelID), of: .video)
        if let audio = entry.offer.audio { publication.setFormat(.opus(isStereo: audio.isStereo), of: .audio) }
        self.publication = publication
        inspector = sessions.host?.makeInspector(for: entry.grant, lease, entry.request, offer: entry.offerDigest)
        receiver.begin(publication, inspector: inspector)
        sessions.host?.publishBegan(publication)
    }

    private func end(_ reason: SessionEnd) { transport.end(reason) }

    func transportEnded(_ reason: SessionEnd) { perform(lifecycle.ended(reason)) }

    private func tearDown(_ reason: SessionEnd) {
        receiver.conclude()
        if let publication {
            publication.end(reason)
            sessions.host?.publishEnded(publication, reason)
        }
        publication = nil
        if receiver.hasRTP { noteFigures() }
        receiver.stop()
    }

    // MARK: - Media

    func receiveControl(_ compound: UnsafeRawBufferPointer, at now: MonotonicTime) {
        receiver.receiveControl(compound, at: now)
    }

    func receiveMedia(_ packet: UnsafeRawBufferPointer, at now: MonotonicTime) {
        switch receiver.receive(packet, at: now) {
        case .gathered(let isFirst): if isFirst { transport.gather() }
        case .nothing: tellNews()
        case .refused(let refusal):
            tellNews()
            end(.refused(refusal))
        }
    }

    private func tellNews() {
        guard receiver.hasNews else { return }
        let news = receiver.takeNews()
        for ssrc in news.sources { transport.register(source: ssrc) }
        if news.hasStarted { reportStart() }
        for step in news.steps { entry.note(step, peer: transport.path.remote) }
    }

    /// One second of media followed a decodable keyframe: the publish is real.
    private func reportStart() {
        if let lease = publication?.lease { plane.reports?.publishStarted(lease) }
    }

    /// Hands on what the batch brought; its bytes are still where they were received.
    func flush() {
        receiver.flush(for: entry)
        tellNews()
    }

    // MARK: - Time

    func tick(at now: MonotonicTime, isSlow: Bool) {
        guard lifecycle.isLive else { return }
        if isSlow, let refusal = inspector?.timePassed(now) { return end(.refused(refusal)) }
        if isSlow, now - lastFigures >= .seconds(1) {
            lastFigures = now
            noteFigures()
        }
        if isSlow { tellOfKeyframes() }
        for datagram in receiver.feedback(at: now) { transport.sendControl(datagram) }
    }

    /// The contract wants regular keyframes of an encoder that sends none when asked.
    private func tellOfKeyframes() {
        guard !hasToldOfKeyframes, receiver.ignoresKeyframeRequests else { return }
        hasToldOfKeyframes = true
        inspector?.keyframesCannotBeRequested()
    }

    private func noteFigures() {
        let figures = receiver.figures
        entry.content.withLock { $0.figures = figures }
    }
}
