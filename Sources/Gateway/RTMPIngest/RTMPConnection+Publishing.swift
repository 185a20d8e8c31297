import Admission
import EventLoop
import GatewayLogging
import Monitoring
import RTMP
import Refusals
import Settings
import StageHub
import Wire

/// From `connect` to a live publish (docs/design.md 7.3).
extension RTMPConnection {
    private static let applicationName = "app"

    func connectRequested(_ request: ConnectRequest) {
        note("connected")
        userAgent = String(decoding: request.flashVersion.utf8.prefix(Self.maximumUserAgentByteCount), as: UTF8.self)
        let target = PublishTarget(connect: request, publishName: "")
        if target.asksForPasswordScheme {
            rejectConnect(Refusal(.unsupportedAuthentication))
        } else if target.application != Self.applicationName {
            rejectConnect(Refusal(.unknownApplication))
        } else {
            session.acceptConnect()
        }
    }

    private func rejectConnect(_ refusal: Refusal) {
        log(.info, "rtmp_connect_refused", ["code": .string(refusal.code.identifier), "agent": .string(userAgent)])
        noteRefusal(refusal, of: nil)
        session.rejectConnect(description: refusal.text)
        flush()
        close(lingering: true)
    }

    /// Deciding takes its time, which is not the encoder's.
    func publishRequested(_ target: PublishTarget) {
        deadline = ingest.loop.schedule(after: settings.decisionTimeout) { [unowned self] in
            refuse(Refusal(.authorityUnavailable))
        }
        note("publishRequested")
        publishCount += 1
        let request = PublishRequest(
            credential: .streamKey(Secret(target.keys[0])), ingestProtocol: transport.isTLS ? .rtmps : .rtmp, source: source,
            userAgent: userAgent)
        attempt = PublishAttempt(number: publishCount, keys: target.keys[...], request: request)
        if target.asksForPasswordScheme { return refuse(Refusal(.unsupportedAuthentication)) }
        authorize()
        if attempt != nil { transport.pauseReading() }
    }

    private func authorize() {
        guard var attempt, let key = attempt.keys.first else { return }
        attempt.request.credential = .streamKey(Secret(key))
        self.attempt = attempt
        ingest.ask(for: id, publish: attempt.number) { answer in
            ingest.environment.authorizer.authorize(attempt.request) { _ = answer(.authorized($0)) }
        }
    }

    func authorized(_ result: Result<PublishGrant, Refusal>) {
        guard attempt != nil, attempt?.grant == nil else { return }
        switch result {
        case .success(let grant): granted(grant)
        case .failure(let refusal):
            // The name may have been an instance and a key in one, or the other way round.
            let isUnknown = refusal.code == .unknownStreamKey
            guard isUnknown, attempt?.keys.dropFirst().isEmpty == false else { return refuse(refusal) }
            attempt?.keys.removeFirst()
            authorize()
        }
    }

    private func granted(_ grant: PublishGrant) {
        guard let request = attempt?.request else { return }
        attempt?.grant = grant
        isStranger = false
        note("authorized")
        if let refusal = ingest.host?.rememberedRefusal(for: grant, request) {
            ingest.environment.reports?.publishRefused(grant, protocol: request.ingestProtocol, refusal)
            return refuse(refusal)
        }
        claim(takeOver: false)
    }

    private func claim(takeOver: Bool) {
        guard let number = attempt?.number, let grant = attempt?.grant, let request = attempt?.request else { return }
        let send = ingest.sender(for: id, publish: number)
        let holder = RTMPLeaseHolder(began: ingest.loop.now) { _ = send(.leaseEnded($0)) }
        attempt?.holder = holder
        let leases = ingest.environment.leases
        ingest.ask(for: id, publish: number) { answer in
            leases.claimPublish(grant, protocol: request.ingestProtocol, holder: holder, takeOver: takeOver) { claim in
                // A worker that takes no more messages cannot give the lease back itself.
                if !answer(.claimed(claim)), case .granted(let lease) = claim { leases.release(lease) }
            }
        }
    }

    func claimed(_ answer: ClaimAnswer) {
        guard let attempt, let grant = attempt.grant else { return }
        switch answer {
        case .granted(let lease): goLive(lease)
        case .held(let incumbent): hold(behind: incumbent)
        case .refused(let refusal):
            ingest.environment.reports?.publishRefused(grant, protocol: attempt.request.ingestProtocol, refusal)
            refuse(refusal)
        }
    }

    /// The key is live: the attempt waits unanswered until the incumbent shows that it is alive, or not (docs/design.md 7.3).
    private func hold(behind incumbent: any LeaseHolder) {
        guard let participant = attempt?.grant?.participant, let number = attempt?.number else { return }
        attempt?.incumbent = incumbent
        attempt?.takeover = Takeover(began: ingest.loop.now, silence: settings.takeoverSilence)
        guard attempt?.heldNumber == nil else { return lookAtIncumbent(after: Takeover.firstPollInterval) }
        let send = ingest.sender(for: id, publish: number)
        guard let held = ingest.environment.heldAttempts.enter(participant, goOn: { _ = send(.incumbentEnded) }) else {
            return refuseInUse()
        }
        attempt?.heldNumber = held
        log(.info, "rtmp_publish_held", ["participant": .string(participant.participantID)])
        lookAtIncumbent()
    }

    private func lookAtIncumbent(after delay: Duration) {
        attempt?.poll = ingest.loop.schedule(after: delay) { [unowned self] in lookAtIncumbent() }
    }

    func lookAtIncumbent() {
        guard let incumbent = attempt?.incumbent else { return }
        if incumbent.hasEnded {
            attempt?.poll?.cancel()
            attempt?.incumbent = nil
            return claim(takeOver: false)
        }
        switch attempt?.takeover?.decision(incumbentProgress: incumbent.lastProgress, now: ingest.loop.now) {
        case nil: break
        case .refuse: refuseInUse()
        case .takeOver:
            attempt?.incumbent = nil
            claim(takeOver: true)
        case .wait(let delay): lookAtIncumbent(after: delay)
        }
    }

    private func refuseInUse() {
        let refusal = Refusal(.streamKeyInUse)
        if let grant = attempt?.grant, let request = attempt?.request {
            ingest.environment.reports?.publishRefused(grant, protocol: request.ingestProtocol, refusal)
        }
        refuse(refusal)
    }

    private func goLive(_ lease: PublishLease) {
        guard let attempt, let grant = attempt.grant, let holder = attempt.holder else {
            return ingest.environment.leases.release(lease)
        }
        dropAttempt()
        deadline = nil
        let publication = Publication(
            grant: grant, lease: lease, ingestProtocol: attempt.request.ingestProtocol,
            origin: PublishOrigin(sessionID: publishID(attempt.number), source: source, userAgent: userAgent, steps: steps),
            timeline: Timeline())
        let loop = ingest.loop
        let pipeline = RTMPPublishPipeline(
            publication: publication, transcoder: ingest.transcoder,
            inspector: ingest.host?.makeInspector(for: grant, lease, attempt.request),
            scratch: ingest.packetScratch, now: { loop.now })
        pipeline.onProgress = { holder.progressed(at: $0) }
        pipeline.onStart = { [reports = ingest.environment.reports] in reports?.publishStarted(lease) }
        live = LivePublish(
            number: attempt.number, lease: lease, holder: holder, pipeline: pipeline,
            silence: loop.schedule(after: settings.idleTimeout) { [unowned self] in lookForSilence() },
            tick: loop.schedule(after: .seconds(1), repeating: .seconds(1)) { [unowned self] in secondPassed() }, began: loop.now)
        ingest.publishBegan(self)
        ingest.host?.publishBegan(publication)
        log(.info, "rtmp_publish_granted", ["participant": .string(grant.participantID), "agent": .string(userAgent)])
        session.acceptPublish()
        flush()
        transport.resumeReading()
    }

    private func secondPassed() {
        let now = ingest.loop.now
        if let refusal = live?.pipeline.timePassed(now) { return refuse(refusal) }
        if let roundTrip = transport.roundTrip { live?.pipeline.publication.counters.measured(roundTrip: roundTrip) }
        guard now.nanoseconds / 1_000_000_000 % Self.pingInterval == 0 else { return }
        session.ping(stamp: UInt32(truncatingIfNeeded: now.nanoseconds / 1_000_000))
        flush()
    }

    /// A connection that publishes again is another session.
    private func publishID(_ number: UInt64) -> String { number == 1 ? sessionID : "\(sessionID)-\(number)" }

    /// Seconds.
    private static let pingInterval: Int64 = 30

    private func lookForSilence() {
        guard let live else { return }
        let patience = settings.idleTimeout - (ingest.loop.now - live.lastMedia)
        if patience > .zero { return live.silence.rearm(after: patience) }
        log(.info, "rtmp_publish_silent")
        end(.connectionLost)
    }
}
