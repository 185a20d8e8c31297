import Admission
import EventLoop
public import MediaContract
import Monitoring
import Refusals
public import StageHub
public import WebRTCTransport
import Wire

/// One WHIP publisher on the worker that owns it: media to the hub, feedback out.
///
/// Not Sendable on purpose: other threads reach it through its `SessionEntry` and the worker's mailbox.
final class WHIPSession: TransportSession {
    let entry: SessionEntry
    /// Keeps this session until both end.
    private unowned let transport: PeerTransport
    /// Kept by the port for as long as it has sessions.
    private unowned let maker: WHIPSessionMaker
    private var context: WHIPContext { entry.context }
    let receiver: MediaReceiver
    private var lastFigures: MonotonicTime = .zero
    private var hasToldOfKeyframes = false
    private let wishes: SinkWishes

    init(entry: SessionEntry, transport: PeerTransport, maker: WHIPSessionMaker) {
        (self.entry, self.transport, self.maker) = (entry, transport, maker)
        receiver = MediaReceiver(offer: entry.offer, metrics: entry.context.metrics, room: maker.room)
        wishes = SinkWishes(entry: entry, receiver: receiver)
    }

    var isMissingPackets: Bool { receiver.isMissingPackets }
    /// While the publish is live.
    private var publication: Publication? { receiver.publication }

    // MARK: - Lifecycle

    func transportReady() { perform(entry.publish.withLock { $0.ready() }) }

    private func perform(_ actions: [PublishMachine.Action]) {
        for action in actions {
            switch action {
            case .claim(let grant, let takeOver): claim(grant, takeOver: takeOver)
            case .start(let grant, let lease): start(grant, lease)
            case .release(let lease): context.leases.release(lease)
            case .refuse(let refusal, let grant):
                if let grant { context.reports.publishRefused(grant, protocol: .whip, refusal) }
                end(.refused(refusal))
            // Those of its POST, which is answered, and of ends, which begin at the transport.
            case .authorize, .examine, .enterQueue, .look, .leaveQueue, .prepare, .stop, .fail, .giveWay: break
            }
        }
    }

    private func claim(_ grant: PublishGrant, takeOver: Bool) {
        let (entry, context, worker) = (entry, context, transport.port.index)
        context.leases.claimPublish(grant, protocol: .whip, holder: entry, takeOver: takeOver) { answer in
            let isSent = context.transport.perform(with: entry, on: worker) { session in
                let session = session as? WHIPSession
                context.leases.giveBack(unlessDelivered: session != nil, answer)
                session?.claimed(answer)
            }
            context.leases.giveBack(unlessDelivered: isSent, answer)
            // Its peer is there, and would send to a session that nothing else ends.
            if !isSent { context.transport.end(entry, .refused(Refusal(.overloaded))) }
        }
    }

    private func claimed(_ answer: ClaimAnswer) {
        let now = transport.loop.now
        perform(entry.publish.withLock { $0.claimed(answer, at: now) })
    }

    /// Who keeps taking a participant from somebody else is told to stop (docs/design.md 7.3).
    private func recordTakeover() {
        guard let incumbent = entry.content.withLock({ $0.incumbent }) else { return }
        let now = transport.loop.now
        context.takeovers.withLock {
            $0.record(entry.grant.participant, from: incumbent, by: entry.source.ip, now: now)
        }
    }

    private func start(_ grant: PublishGrant, _ lease: PublishLease) {
        recordTakeover()
        entry.note(.leaseGranted)
        SessionLog.started(entry, peer: transport.path.remote)
        let publication = Publication(
            grant: grant, lease: lease, ingestProtocol: .whip, origin: entry.origin, timeline: Timeline())
        if let roundTrip = transport.handshakeRoundTrip { publication.counters.measured(roundTrip: roundTrip) }
        publication.source = wishes
        for layer in 0..<max(1, entry.offer.video.rids.count) {
            publication.setFormat(
                .h264Offered(profileLevelID: entry.offer.video.profileLevelID), of: TrackID(.video, layer: UInt8(layer)))
        }
        if let audio = entry.offer.audio { publication.setFormat(.opus(isStereo: audio.isStereo), of: .audio) }
        let inspector = maker.host.makeInspector(for: grant, lease, entry.request)
        receiver.begin(publication, inspector: inspector, at: transport.loop.now)
        maker.host.publishBegan(publication, inspector)
        entry.request.place.giveBack()
        tellPassedOver(lease)
    }

    /// The session's story tells which of the encoder's layers nobody gets.
    private func tellPassedOver(_ lease: PublishLease) {
        let rids = entry.offer.video.passedOverRIDs
        guard !rids.isEmpty else { return }
        let sentence = "Not forwarded: simulcast layer \(rids.joined(separator: ", ")): there are three before it."
        SessionLog.passedOver(entry, sentence)
        context.board.note(lease, warnedBy: "simulcast", sentence)
    }

    private func end(_ reason: SessionEnd) { transport.end(reason) }

    func transportEnded(_ reason: SessionEnd) {
        receiver.giveUpMissing()
        receiver.inspector?.ended()
        publication?.end(reason)
        if receiver.hasRTP { noteFigures() }
        receiver.stop()
    }

    // MARK: - Media

    func receiveControl(_ compound: UnsafeRawBufferPointer, at now: MonotonicTime) {
        unsafe receiver.receiveControl(compound, at: now)
    }

    func receiveMedia(_ packet: UnsafeRawBufferPointer, at now: MonotonicTime) {
        switch unsafe receiver.receive(packet, at: now) {
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

    /// A second of pictures, or of audio alone: the publish is real.
    private func reportStart() {
        guard let publication else { return }
        context.reports.publishStarted(publication.lease)
        publication.started()
    }

    /// Hands on what the batch brought; its bytes are still where they were received.
    func flush() {
        receiver.flush(for: entry)
        tellNews()
    }

    // MARK: - Time

    func look(at now: MonotonicTime) {
        guard publication != nil else { return }
        if let refusal = receiver.inspector?.timePassed(now) { return end(.refused(refusal)) }
        if receiver.lacksParameterSets(at: now) { return end(.refused(Self.missingParameterSets)) }
        if now - lastFigures >= .seconds(1) {
            lastFigures = now
            noteFigures()
        }
        tellOfKeyframes()
    }

    func sendFeedback(at now: MonotonicTime) {
        guard publication != nil else { return }
        for datagram in receiver.feedback(at: now) { transport.sendControl(datagram) }
    }

    /// What the offer alone tells (sprop-parameter-sets) reaches nobody who comes to watch, and no contract judges it.
    private static let missingParameterSets = Refusal(
        .videoCodec,
        sentence: "Three keyframes came without parameter sets (SPS, PPS), so that nobody can decode them: have these repeated"
            + " before each keyframe (GStreamer: h264parse config-interval=-1, x264: repeat-headers=1, ffmpeg: -bsf:v dump_extra)."
    )

    /// The contract wants regular keyframes of an encoder that sends none when asked.
    private func tellOfKeyframes() {
        guard !hasToldOfKeyframes, receiver.ignoresKeyframeRequests else { return }
        hasToldOfKeyframes = true
        receiver.inspector?.keyframesCannotBeRequested()
    }

    private func noteFigures() {
        let figures = receiver.figures
        entry.content.withLock { $0.figures = figures }
    }
}

/// What a publication's sinks ask of its encoder.
///
/// An object of its own: the publication holds it weakly, and an object that is held so keeps its counts in a side table. The
/// session and its receiver, which every packet passes, must not pay for that.
private final class SinkWishes: MediaSource {
    private let entry: SessionEntry
    private let receiver: MediaReceiver

    init(entry: SessionEntry, receiver: MediaReceiver) { (self.entry, self.receiver) = (entry, receiver) }

    var canRequestKeyframe: Bool { receiver.canRequestKeyframe }
    func announced() { entry.note(.announced) }
    func requestKeyframe(_ track: TrackID) { receiver.wantKeyframe(of: track) }
    func limitBitrate(_ bitsPerSecond: Int?) { receiver.limitBitrate(bitsPerSecond) }
}

/// Makes the sessions of one worker's WHIP publishers for its `MediaPort`, which keeps it. Confined to the loop.
public final class WHIPSessionMaker: TransportSessionMaker {
    /// The contract, and whoever wants a publish's media.
    fileprivate let host: any PublishHost<ContractSession>
    fileprivate let room = RunRoom()

    public init(host: any PublishHost<ContractSession>) { self.host = host }

    public func makeSession(for entry: any TransportEntry, on transport: PeerTransport) -> any TransportSession {
        guard let entry = entry as? SessionEntry else { preconditionFailure("only WHIP makes entries that publish") }
        return WHIPSession(entry: entry, transport: transport, maker: self)
    }
}
