import Admission
import EventLoop
import GatewayLogging
import Monitoring
import Refusals
import Settings
import StageHub
import Wire

/// One publish on a connection, from the encoder's wish to its end: carries out what `PublishMachine` says (docs/design.md 7.3).
///
/// The connection owns it. An answer that comes when both are over still finds it, and the lease that it brings is given back.
final class RTMPPublish {
    /// Of the connection's publishes: orders from other threads say which one they mean.
    let number: UInt64
    /// Owns the answers under way: none comes once it is gone.
    private unowned let ingest: RTMPIngest
    /// Owns its publishes. An answer that comes when both are over no longer touches it.
    private unowned let connection: RTMPConnection
    private let holder: LocalHolder
    private var request: PublishRequest
    /// As the encoder wrote it.
    private let key: Secret
    private var machine: PublishMachine
    /// Its place among those who wait for the lease.
    private var queuePlace: (participant: ParticipantKey, number: Int)?
    /// The next look at whoever has the lease.
    private var poll: TimerWatch?
    /// While media may flow.
    private(set) var live: LivePublish?

    /// - Parameter keys: what the publish name may mean, in the order in which it is tried.
    init(_ number: UInt64, on connection: RTMPConnection, keys: [String], _ request: PublishRequest) {
        (self.number, self.connection, ingest, self.request) = (number, connection, connection.ingest, request)
        let order = ingest.sender(for: connection.id, publish: number)
        holder = LocalHolder { order(.leaseEnded($0)) }
        let credentials = keys.map { Secret($0) }
        key = credentials[0]
        machine = PublishMachine(credentials, contest: .outwaits(silence: ingest.settings.takeoverSilence))
    }

    /// Neither live nor over: the encoder waits for an answer.
    var isPending: Bool { live == nil && !machine.isOver }

    // MARK: - Inputs

    func begin() { perform(machine.begin()) }

    /// Ends by our decision, in words that the encoder's user will see.
    func refuse(_ refusal: Refusal) { perform(machine.refused(refusal), because: .refused(refusal)) }

    /// Ends without a word.
    func end(_ reason: SessionEnd) { perform(machine.ended(), because: reason) }

    /// The encoder has gone without a goodbye, as the SDKs' network test does.
    func peerLeft() {
        if let live, live.wasNetworkTest {
            let lease = live.pipeline.publication.lease
            connection.story.log(.info, "rtmp_network_test", ["participant": .string(lease.participantID)])
            ingest.environment.reports?.publishWasTest(lease)
        }
        end(.connectionLost)
    }

    func leaseEnded(_ reason: LeaseEnd) { perform(machine.leaseEnded(reason), because: reason.sessionEnd) }

    /// Looks whether whoever has the lease is alive: it is time, or that one has ended.
    func lookAtIncumbent() {
        guard let incumbent = machine.incumbent else { return }
        let (progress, hasEnded) = (incumbent.lastProgress, incumbent.hasEnded)
        perform(machine.looked(progress: progress, hasEnded: hasEnded, at: ingest.loop.now))
    }

    // MARK: - Actions

    /// - Parameter reason: why media ends, where it does.
    private func perform(_ actions: [PublishMachine.Action], because reason: SessionEnd = .connectionLost) {
        var isTold = false
        for action in actions {
            switch action {
            case .authorize(let key): authorize(key)
            case .examine(let grant): examine(grant)
            case .claim(let grant, let takeOver): claim(grant, takeOver: takeOver)
            case .enterQueue(let grant, _): enterQueue(grant.participant)
            case .look(let delay): look(after: delay)
            case .leaveQueue: leaveQueue()
            case .prepare: perform(machine.ready())
            case .start(let grant, let lease): start(grant, lease)
            case .stop: stop(reason)
            case .fail(let lease, let refusal): ingest.environment.reports?.publishFailed(lease, refusal)
            case .release(let lease): release(lease)
            case .refuse(let refusal, let grant):
                turnAway(refusal, grant)
                isTold = true
            case .giveWay:
                giveWay()
                isTold = true
            }
        }
        if machine.isOver { request.place.giveBack() }
        if isTold { connection.close(lingering: true) }
    }

    private func authorize(_ key: Secret) {
        request.credential = .streamKey(key)
        let (authorizer, request) = (ingest.environment.authorizer, request)
        ingest.replies.ask { reply in
            authorizer.authorize(request) { reply($0) }
        } then: { [self] result in
            perform(machine.authorized(result ?? .failure(Refusal(.authorityUnavailable))))
        }
    }

    private func examine(_ grant: PublishGrant) {
        connection.authorized()
        perform(machine.examined(ingest.host.rememberedRefusal(for: grant, request)))
    }

    private func claim(_ grant: PublishGrant, takeOver: Bool) {
        poll?.cancel()
        holder.progressed(at: ingest.loop.now)
        ingest.environment.leases.claimPublish(
            grant, protocol: request.ingestProtocol, holder: holder, takeOver: takeOver, through: ingest.replies
        ) { [self] answer in
            perform(machine.claimed(answer, at: ingest.loop.now))
        }
    }

    private func enterQueue(_ participant: ParticipantKey) {
        let order = ingest.sender(for: connection.id, publish: number)
        guard let place = ingest.environment.queue.enter(participant, goOn: { order(.incumbentEnded) }) else {
            return perform(machine.admittedToQueue(Refusal(.streamKeyInUse)))
        }
        queuePlace = (participant, place)
        connection.story.log(.info, "rtmp_publish_held", ["participant": .string(participant.participantID)])
        perform(machine.admittedToQueue(nil))
    }

    private func look(after delay: Duration) {
        guard delay > .zero else { return lookAtIncumbent() }
        poll = ingest.loop.schedule(after: delay) { [unowned self] in lookAtIncumbent() }
    }

    private func leaveQueue() {
        poll?.cancel()
        guard let place = queuePlace else { return }
        ingest.environment.queue.leave(place.participant, place.number)
        queuePlace = nil
    }

    private func start(_ grant: PublishGrant, _ lease: PublishLease) {
        let publication = Publication(
            grant: grant, lease: lease, ingestProtocol: request.ingestProtocol,
            origin: connection.story.origin(ofPublish: number), timeline: Timeline())
        let (loop, holder) = (ingest.loop, holder)
        let inspector = ingest.host.makeInspector(for: grant, lease, request)
        let pipeline = RTMPPublishPipeline(
            publication: publication, transcoder: ingest.transcoder,
            inspector: inspector, scratch: ingest.packetScratch, now: { loop.now })
        pipeline.onProgress = { holder.progressed(at: $0) }
        pipeline.onPassedOver = { [weak self] in self?.note(lease, passedOver: $0) }
        pipeline.onDelay = { [weak self] in self?.note(lease, delayedBy: $0) }
        pipeline.onStart = { [reports = ingest.environment.reports, unowned publication] in
            reports?.publishStarted(lease)
            publication.started()
        }
        live = LivePublish(
            pipeline: pipeline,
            silence: loop.schedule(after: ingest.settings.idleTimeout) { [unowned self] in lookForSilence() },
            tick: loop.schedule(after: .seconds(1), repeating: .seconds(1)) { [unowned self] in secondPassed() }, began: loop.now)
        connection.transport.carriesMedia = true
        ingest.leaveAdmission(connection)
        ingest.host.publishBegan(publication, inspector)
        request.place.giveBack()
        connection.acceptPublish(of: grant.participantID)
    }

    /// The session's story tells which of the encoder's tracks nobody gets.
    private func note(_ lease: PublishLease, passedOver sentence: String) {
        connection.story.log(.info, "rtmp_tracks_passed_over", ["sentence": .string(sentence)])
        ingest.environment.board.note(lease, warnedBy: "multitrack", sentence)
    }

    private func note(_ lease: PublishLease, delayedBy delay: Duration) {
        let sentence =
            "Media comes \(Int(delay.inSeconds)) s later than at first. The way here does not carry its bitrate, or the encoder "
            + "does not keep up or stood still: lower the video bitrate, or look at the encoder's machine and network."
        connection.story.log(.warning, "rtmp_media_late", ["sentence": .string(sentence)])
        ingest.environment.board.note(lease, warnedBy: "delay", sentence)
    }

    private func stop(_ reason: SessionEnd) {
        guard let ended = live else { return }
        live = nil
        connection.transport.carriesMedia = false
        ended.end(reason)
        ingest.metrics.count(ended.pipeline.counters)
        connection.story.log(.info, "rtmp_publish_ended", ended.figures(because: reason))
    }

    /// Also of a publish whose connection has gone.
    private func release(_ lease: PublishLease) {
        ingest.environment.leases.release(lease)
        holder.ended()
        ingest.environment.queue.released(lease.participant)
    }

    private func turnAway(_ refusal: Refusal, _ grant: PublishGrant?) {
        if let grant {
            ingest.environment.reports?.publishRefused(grant, protocol: request.ingestProtocol, refusal)
        }
        let publication = live?.pipeline.publication
        let known = grant ?? publication?.grant
        connection.turnAway(
            refusal, of: known, credentialHash: known == nil ? CredentialHash(of: key).text : nil,
            session: publication?.origin?.sessionID)
    }

    private func giveWay() {
        connection.story.log(.info, "rtmp_publish_taken_over")
        connection.reject(Refusal(.streamKeyInUse, sentence: "Another encoder has taken over this stream key."))
    }

    // MARK: - Time

    private func secondPassed() {
        if let refusal = live?.pipeline.timePassed(ingest.loop.now) { return refuse(refusal) }
        live?.secondPassed()
        if let roundTrip = connection.transport.roundTrip {
            live?.pipeline.publication.counters.measured(roundTrip: roundTrip)
        }
        connection.pingIfDue()
    }

    /// A look for silence that is so late tells of this loop's silence.
    private static let standstill = Duration.milliseconds(100)

    private func lookForSilence() {
        guard let live else { return }
        let patience = ingest.settings.idleTimeout - (ingest.loop.now - live.lastMedia)
        if patience > .zero { return live.silence.rearm(after: patience) }
        if patience + Self.standstill < .zero {
            // What the encoder sent meanwhile was not read yet.
            live.lastMedia = ingest.loop.now
            return live.silence.rearm(after: ingest.settings.idleTimeout)
        }
        connection.story.log(.info, "rtmp_publish_silent")
        // Not refused: the key is good, and the encoder may come back at once.
        let seconds = Int(ingest.settings.idleTimeout.inSeconds)
        let sentence = "No media came for \(seconds) s: look at the encoder and its network, and start the stream again."
        connection.reject(Refusal(.silentPublish, sentence: sentence))
        connection.close(lingering: true)
    }
}
