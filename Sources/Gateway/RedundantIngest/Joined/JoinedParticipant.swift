import Admission
import EventLoop
import GatewayLogging
import Monitoring
import Refusals
import StageHub
import Wire

/// One participant and its two encoders: carries out what `SourceChoice` says. Confined to the worker of whichever came first.
final class JoinedParticipant {
    let key: ParticipantKey
    /// It keeps its participants until they are over.
    private unowned let worker: RedundancyWorker
    private let grant: PublishGrant
    private let claim: JoinedClaim
    private let record: JoinedRecord
    private var sources: [EncoderSource] = []
    private var choice = SourceChoice()
    private var output: JoinedOutput?
    /// While what was kept of the source is on its way.
    private var catchUp: CatchUp?
    private var timer: TimerWatch?
    /// When the last encoder left without a word, and nobody came since.
    private var desertedAt: MonotonicTime?
    private var tickedAt = MonotonicTime.zero

    static let lookInterval = Duration.milliseconds(100)
    /// Both encoders were lost: whichever returns within this time goes on with the same publish.
    static let absence = Duration.seconds(10)

    /// - Parameter feed: of the encoder that came first.
    init(_ key: ParticipantKey, first feed: EncoderFeed, _ worker: RedundancyWorker) {
        (self.key, self.worker) = (key, worker)
        var grant = feed.grant
        (grant.participantID, grant.redundancy) = (key.participantID, .joined)
        self.grant = grant
        record = JoinedRecord(key, grant, worker.desk, worker: worker.index)
        let inbox = worker.desk.inboxes[worker.index]
        claim = JoinedClaim(grant, feed.ingestProtocol, worker.claims) { inbox.send(.leaseEnded(key, claim: $0, $1)) }
        claim.onGranted = { [unowned self] in begin($0) }
        claim.onRefused = { Log.event(.warning, "redundant_refused", ["code": .string($0.code.identifier)]) }
        timer = worker.loop.schedule(after: Self.lookInterval, repeating: Self.lookInterval) { [unowned self] in look() }
    }

    // MARK: - Encoders

    /// An encoder comes, by a feed of its own; one that had another before is gone from that.
    func add(_ feed: EncoderFeed) {
        if let former = sources.first(where: { $0.encoder == feed.encoder }) { remove(former, because: .end) }
        sources.append(EncoderSource(feed))
        desertedAt = nil
        claim.open()
        claim.look(at: worker.loop.now)
        tell()
    }

    func ended(_ feed: EncoderFeed, _ reason: SessionEnd) {
        guard let source = sources.first(where: { $0.feed === feed }) else { return }
        drain(source)
        if let catchUp, catchUp.source === source { catchUp.hurry() }
        remove(source, because: reason.isBreach ? .breach : .end)
        if sources.isEmpty { deserted(reason) } else { decide() }
        tell()
    }

    private func remove(_ source: EncoderSource, because reason: SourceChoice.Reason) {
        choice.gone(source.encoder, because: reason)
        source.leave()
        sources.removeAll { $0 === source }
        worker.desk.leave(key)
    }

    /// Who says that it ends, or is told to, is not waited for.
    private func deserted(_ reason: SessionEnd) {
        if claim.isOver { return finish(reason) }
        switch reason {
        case .closed, .shutdown: finish(reason)
        case .connectionLost, .refused, .takenOver: desertedAt = worker.loop.now
        }
    }

    func ordered(_ encoder: Int) {
        choice.ordered(encoder)
        decide()
    }

    // MARK: - Media

    /// Takes what has come of both.
    func drain() {
        for source in sources { drain(source) }
        decide()
    }

    private func drain(_ source: EncoderSource) {
        source.drain(into: choice.current == source.encoder ? output : nil)
        if let progress = output?.progress { claim.progressed(at: progress) }
    }

    private func decide() {
        guard let output else { return }
        let now = worker.loop.now
        let wanted = choice.wanted(at: now) { encoder in source(encoder)?.observed.health.level(at: now) }
        guard let wanted, let source = source(wanted.encoder), source.canBegin else { return }
        catchUp?.finish(at: now)
        let former = choice.current ?? (output.progress == nil ? nil : record.lastSwitch?.to)
        current?.letGo()
        choice.switched(to: source.encoder, at: now)
        catchUp = CatchUp(of: source, after: former, because: wanted.reason, to: output, worker.loop) { [unowned self] in
            caughtUp($0, $1)
        }
        catchUp?.begin(at: now)
    }

    private func caughtUp(_ switched: SourceSwitch, _ reason: SourceChoice.Reason) {
        catchUp = nil
        record.note(switched, reason, of: claim.lease)
        tell()
    }

    private func source(_ encoder: Int) -> EncoderSource? { sources.first { $0.encoder == encoder } }
    private var current: EncoderSource? { choice.current.flatMap(source) }

    // MARK: - The publish

    private func begin(_ lease: PublishLease) {
        guard let first = sources.first?.feed else { return finish(.connectionLost) }
        let origin = first.origin.map { origin in
            PublishOrigin(sessionID: Self.sessionID(of: lease), source: origin.source, userAgent: origin.userAgent)
        }
        let publication = Publication(
            grant: grant, lease: lease, ingestProtocol: first.ingestProtocol, origin: origin, timeline: Timeline())
        let output = JoinedOutput(publication)
        output.onStart = { [reports = worker.desk.reports] in
            reports?.publishStarted(lease)
            publication.started()
        }
        self.output = output
        worker.show(publication)
        decide()
    }

    /// With the participant in it: a cluster's servers give two of them the same generation in the same millisecond.
    static func sessionID(of lease: PublishLease) -> String {
        "joined-\(lease.participantID)-\(String(lease.generation, radix: 16))"
    }

    /// The lease was taken away, by somebody who joins this participant elsewhere or by an operator.
    func leaseEnded(_ number: Int, _ reason: LeaseEnd) {
        if claim.lost(number, reason) { stop(reason.sessionEnd) }
    }

    private func stop(_ reason: SessionEnd) {
        catchUp?.finish(at: worker.loop.now)
        // Another publish begins with a first source of its own.
        choice = SourceChoice()
        for source in sources { source.letGo() }
        output?.end(reason)
        output = nil
    }

    /// Nobody is left, or the worker ends.
    func finish(_ reason: SessionEnd) {
        stop(reason)
        claim.finish()
        timer?.cancel()
        for source in sources { remove(source, because: .end) }
        worker.forget(self)
    }

    // MARK: - Time

    private func look() {
        let now = worker.loop.now
        if let desertedAt, now - desertedAt >= Self.absence { return finish(.connectionLost) }
        // Two nodes that both have nothing would take it from each other for as long as that.
        if sources.contains(where: { $0.observed.health.level(at: now) > .still }) { claim.look(at: now) }
        decide()
        if !isAlive(at: now) { claim.yield() }
        guard now - tickedAt >= .seconds(1) else { return }
        tickedAt = now
        output?.publication.tick(at: now)
        tell()
        if let lease = claim.lease, let one = source(1), let two = source(2) {
            record.compare(one.observed, two.observed, of: lease, at: now)
        }
    }

    /// Whether its source brings something.
    private func isAlive(at now: MonotonicTime) -> Bool {
        current.map { $0.observed.health.level(at: now) > .still } ?? false
    }

    /// What operators see.
    private func tell() { record.tell(sources, current: choice.current, isLive: output != nil, at: worker.loop.now) }
}

extension SessionEnd {
    fileprivate var isBreach: Bool { if case .refused = self { true } else { false } }
}
