import Admission
import EventLoop
import GatewayLogging
import Monitoring
import Refusals
import StageHub
import Wire

/// One participant and its two encoders: carries out what `SourceChoice` says. Confined to the worker of whichever came first.
final class JoinedParticipant {
    /// A switch whose source catches up with itself still.
    private struct CatchUp {
        let source: EncoderSource
        /// The encoder that was the source.
        let former: Int?
        let reason: SourceChoice.Reason
        /// When something of that one was sent last.
        let since: MonotonicTime?
        let timer: TimerWatch
    }

    let key: ParticipantKey
    /// Has its participants until they are over.
    private unowned let worker: RedundancyWorker
    private let grant: PublishGrant
    private let claim: JoinedClaim
    private var sources: [EncoderSource] = []
    private var choice = SourceChoice()
    private var output: JoinedOutput?
    private var timer: TimerWatch?
    /// When the last encoder left without a word, and nobody came since.
    private var desertedAt: MonotonicTime?
    private var tickedAt = MonotonicTime.zero
    private var catchUp: CatchUp?
    private var lastSwitch: SourceSwitch?
    private var switchCount = 0
    private var toldDifference: String?

    static let lookInterval = Duration.milliseconds(100)
    /// Both encoders were lost: whichever returns within this time goes on with the same publish.
    static let absence = Duration.seconds(10)

    /// - Parameter feed: of the encoder that came first.
    init(_ key: ParticipantKey, first feed: EncoderFeed, _ worker: RedundancyWorker) {
        (self.key, self.worker) = (key, worker)
        var grant = feed.grant
        (grant.participantID, grant.redundancy) = (key.participantID, .joined)
        self.grant = grant
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
        if catchUp?.source === source {
            source.hurry()
            step()
        }
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
        let wanted = choice.wanted(at: now) { encoder in source(encoder)?.health.level(at: now) }
        guard let wanted, let source = source(wanted.encoder), source.canBegin else { return }
        change(to: source, wanted.reason, output, now)
    }

    private func source(_ encoder: Int) -> EncoderSource? { sources.first { $0.encoder == encoder } }

    private func change(
        to source: EncoderSource, _ reason: SourceChoice.Reason, _ output: JoinedOutput, _ now: MonotonicTime
    ) {
        finishCatchUp(at: now)
        let progress = output.progress
        let former = choice.current ?? (progress == nil ? nil : lastSwitch?.to)
        choice.current.flatMap(self.source)?.letGo()
        choice.switched(to: source.encoder, at: now)
        output.begin(source)
        source.begin(at: now) { output.reaches($0) }
        // Nobody has anything yet of a stream that begins.
        if progress == nil { source.hurry() }
        let timer = worker.loop.schedule(after: Backlog.stepInterval, repeating: Backlog.stepInterval) { [unowned self] in step()
        }
        catchUp = CatchUp(source: source, former: former, reason: reason, since: progress, timer: timer)
        step()
    }

    /// Sends what is due of what was kept of the source.
    private func step() {
        guard let catchUp, let output else { return }
        let now = worker.loop.now
        catchUp.source.sendBacklog(to: output, at: now, beginsStream: catchUp.since == nil)
        if !catchUp.source.isCatchingUp { finishCatchUp(at: now) }
    }

    private func finishCatchUp(at now: MonotonicTime) {
        guard let done = catchUp else { return }
        catchUp = nil
        let switched = SourceSwitch(
            time: EventLoop.wallNow(), from: done.former, to: done.source.encoder, reason: done.reason.rawValue,
            gap: done.since.map { now - $0 })
        note(switched, done.reason)
    }

    private func note(_ switched: SourceSwitch, _ reason: SourceChoice.Reason) {
        lastSwitch = switched
        // Who was lost and comes back itself goes on, with a gap to be told of.
        if reason != .begin, switched.from != switched.to {
            switchCount += 1
            worker.desk.metrics.switched(reason)
        }
        if let lease = claim.lease { worker.desk.board?.note(lease, switched) }
        Log.event(
            .info, "redundant_source",
            [
                "participant": .string(key.participantID), "encoder": .integer(switched.to), "reason": .string(switched.reason),
                "from": .integer(switched.from ?? 0), "gap_ms": .integer(Int(switched.gap?.milliseconds ?? 0)),
            ])
        tell()
    }

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
        guard claim.lost(number, reason) else { return }
        switch reason {
        case .takenOver: stop(.takenOver)
        case .disconnected(let refusal): stop(.refused(refusal))
        }
    }

    private func stop(_ reason: SessionEnd) {
        finishCatchUp(at: worker.loop.now)
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
        if sources.contains(where: { $0.health.level(at: now) > .still }) { claim.look(at: now) }
        decide()
        if !isAlive(at: now) { claim.yield() }
        guard now - tickedAt >= .seconds(1) else { return }
        tickedAt = now
        output?.publication.tick(at: now)
        tell()
        compare(at: now)
    }

    /// Whether its source brings something.
    private func isAlive(at now: MonotonicTime) -> Bool {
        choice.current.flatMap(source).map { $0.health.level(at: now) > .still } ?? false
    }

    /// Encoders should be set alike: what differs changes with every switch. Told once, until it is another difference.
    private func compare(at now: MonotonicTime) {
        guard let lease = claim.lease, sources.allSatisfy({ $0.health.level(at: now) == .well }),
            let one = source(1)?.picture, let two = source(2)?.picture
        else { return }
        let sentence = one.difference(from: two)
        if let sentence, sentence != toldDifference { worker.desk.board?.note(lease, warnedBy: "redundant", sentence) }
        toldDifference = sentence
    }

    /// What operators see.
    private func tell() {
        let now = worker.loop.now
        let encoders = sources.map { source in
            RedundancyStatus.Encoder(
                number: source.encoder, participantID: source.feed.grant.participantID,
                health: source.health.level(at: now).name, isReady: source.canBegin, clock: source.clock.told?.kind)
        }
        worker.desk.tell(
            RedundancyStatus(
                participant: key, stageARN: grant.stageARN, configurationARN: grant.ingestConfigurationARN ?? "",
                isLive: output != nil, source: choice.current, lastSwitch: lastSwitch, switchCount: switchCount,
                encoders: encoders.sorted { $0.number < $1.number }), of: worker.index)
    }
}

extension SessionEnd {
    fileprivate var isBreach: Bool { if case .refused = self { true } else { false } }
}
