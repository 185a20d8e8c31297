import Admission
public import EventLoop
public import Redis
import Refusals
import Settings
import Store
import Wire

/// The node's part in the cluster on the control loop: runs a `NodeMachine` on a connection to the server. Confined to the loop.
public final class ClusterMember {
    /// Told of the server's coming and going.
    public var onStateChange: (RedisState) -> Void = { _ in }
    /// Told why the server has written nothing for a while though it answers; nil once it writes again.
    public var onWritesChange: (RedisError?) -> Void = { _ in }
    /// Whether the node hears what others say; what it missed it reads at the next renewal.
    public private(set) var isListening = false
    /// What this node tells others of itself, with its next heartbeat.
    public var record: NodeRecord { didSet { machine.record = record.text } }
    public var state: RedisState { connection.state }
    /// Whether another process lives under this node's name, and has told so since this one has.
    public var hasRival: Bool { machine.hasRival }

    /// Who waits for a lease.
    private enum Claimant {
        case publisher(ClusterOrder.Claim)
        case audience(stageID: String)
    }

    private let loop: EventLoop
    private let leases: ClusterLeases
    private let connection: ClusterConnection
    private var machine: NodeMachine
    private let publishers: LocalPublishers
    private let audiences: LocalAudiences
    private var claims = ReplyTable<Claimant>(maximumCount: maximumWaiting)
    private var looks = ReplyTable<(ClusterAnswer.StageView?) -> Void>(maximumCount: maximumWaiting)
    private var mailbox: Mailbox<ClusterOrder>?
    private var timer: TimerWatch?
    private var validation: TimerWatch?
    /// As `onWritesChange` was told; a server that comes back has to take a heartbeat first.
    private var isRefusing = false
    /// Its timers are gone for good: what the loop still brings finds the server away.
    private var isClosed = false
    private var clock: MonotonicTime { loop.now }

    /// - Throws: when the kernel gives no more descriptors.
    public init(loop: EventLoop, leases: ClusterLeases, redis: RedisSettings) throws(SystemError) {
        (self.loop, self.leases) = (loop, leases)
        record = NodeRecord(id: leases.settings.nodeID)
        machine = NodeMachine(
            settings: leases.settings,
            environment: NodeMachine.Environment(
                makeSessionID: Identifier.stageSession, wallNow: leases.environment.wallNow),
            now: loop.now)
        machine.record = record.text
        (publishers, audiences) = (LocalPublishers(leases), LocalAudiences(loop: loop, leases))
        connection = try ClusterConnection(loop: loop, settings: leases.settings, redis: redis)
        mailbox = try Mailbox(loop: loop) { [unowned self] in take($0) }
        connection.onStateChange = { [unowned self] in changed($0) }
        audiences.claim = { [unowned self] in claim(forAudienceOf: $0) }
        audiences.release = { [unowned self] in perform(machine.release($0)) }
        audiences.announce = { [unowned self] in
            announce($0.sessionID, ofStage: ResourceName.identifier(inARN: $0.stageARN))
        }
    }

    /// Serves claims from now on; they are refused until the server is there.
    public func start() {
        leases.control.withLock { $0 = mailbox?.sender }
        connection.start(
            onListening: { [unowned self] in listeningChanged(to: $0) },
            onMessage: { [unowned self] in perform(machine.received($0, clock)) })
        rearm()
    }

    /// Ends the connections. What is held stays held until it expires; what waits is refused.
    public func close() {
        isClosed = true
        leases.control.withLock { $0 = nil }
        (timer, validation) = (nil, nil)
        connection.close()
        for claimant in claims.removeAll() { refuse(claimant, Refusal(.platformAway)) }
        for look in looks.removeAll() { look(nil) }
        publishers.close()
    }

    private func changed(_ state: RedisState) {
        if state.isConnected {
            perform(machine.connected(runID: state.runIDs.joined(separator: ","), clock))
        } else {
            machine.disconnected()
        }
        onStateChange(state)
    }

    private func listeningChanged(to isListening: Bool) {
        self.isListening = isListening
        // What was said while nobody listened stands in the records of what is held.
        if isListening { perform(machine.renewNow(clock)) }
    }

    private func rearm() {
        guard !isClosed else { return }
        let deadline = audiences.deadline.map { min($0, machine.deadline) } ?? machine.deadline
        let rest = max(.zero, deadline - clock)
        if let timer { return timer.rearm(after: rest) }
        timer = loop.schedule(after: rest) { [unowned self] in
            audiences.timePassed()
            perform(machine.timePassed(clock))
        }
    }

    /// Claims, and looks at stages, that wait for the server: as many as orders fit into the mailbox.
    private static let maximumWaiting = 65_536
}

// MARK: - Running

extension ClusterMember {
    private func perform(_ actions: [ClusterAction]) {
        for action in actions { perform(action) }
        rearm()
    }

    private func perform(_ action: ClusterAction) {
        switch action {
        case .call(let call): run(call)
        case .send(let message, let node): connection.send(message, to: node)
        case .granted(let number, let lease, let session): granted(number, lease, session)
        case .heldHere(let number): heldHere(number)
        case .heldElsewhere(let number, let watch, let progress): heldElsewhere(number, watch: watch, progress)
        case .refused(let number, let reason): if let claimant = claims.remove(number) { refuse(claimant, reason.refusal) }
        case .progressed(let watch, let time): publishers.progressed(watch: watch, at: time)
        case .gone(let watch): publishers.gone(watch: watch)
        case .end(let lease, let end): self.end(lease, end)
        case .revive(let lease, let generation): revive(lease, generation)
        case .inspect(let question):
            perform(machine.inspected(question, publishers.holding(of: question.lease, clock)))
        case .closed(let stage, let ended): leases.closed(ended, ofStage: stage)
        case .sessionEnded(let stage, let session): leases.sessionEnded(session, ofStage: stage)
        case .looked(let number, let view): looks.remove(number)?(view)
        case .nodesChanged: nodesChanged()
        }
    }

    private func nodesChanged() {
        leases.keepRenewals { self.machine.holds(stage: $0) }
        leases.updateNodes(machine.nodes.map { NodeRecord(id: $0.key, parsing: $0.value) }.sorted { $0.id < $1.id })
    }

    private func run(_ call: ClusterCall) {
        let sentAt = clock
        connection.run(call) { [weak self] answer in self?.answered(call, answer, sentAt: sentAt) }
    }

    private func answered(_ call: ClusterCall, _ result: Result<ClusterAnswer, RedisError>, sentAt: MonotonicTime) {
        let answer = try? result.get()
        perform(machine.answered(call, answer, sentAt: sentAt, clock))
        if case .heartbeat = call { noteHeartbeat(result) }
        if case .renew(let stage, _) = call, case .renewed(let results) = answer, !results.contains(where: \.isLost) {
            leases.renewed(stageID: stage, sentAt: sentAt)
        }
    }

    private func noteHeartbeat(_ result: Result<ClusterAnswer, RedisError>) {
        var error: RedisError?
        if case .failure(let failure) = result { error = failure }
        let isRefused = error != nil && (isRefusing || machine.outage.isRefusing(at: clock))
        guard isRefused != isRefusing else { return }
        isRefusing = isRefused
        onWritesChange(isRefused ? error : nil)
    }

    private func take(_ order: ClusterOrder) {
        switch order {
        case .claim(let claim): self.claim(claim)
        case .release(let lease): perform(machine.release(LeaseIdentity(lease)))
        case .end(let participant, let refusal):
            let stage = ResourceName.identifier(inARN: participant.stageARN)
            perform(machine.end(stage: stage, participant: participant.participantID, LeaseEnding(refusal)))
        case .endAll(let arn, let refusal):
            let stage = ResourceName.identifier(inARN: arn)
            perform(machine.end(stage: stage, participant: nil, LeaseEnding(refusal)))
        case .announced(let stage, let session): announce(session, ofStage: stage)
        case .refused(let grant, let ingestProtocol, let code): refused(grant, ingestProtocol, code)
        case .watchStarted(let watching): audiences.started(watching)
        case .watchStopped(let watching): audiences.stopped(watching)
        case .watchRefused(let watching, let code):
            look(at: watching.grant.stageID, begins: false) { [unowned self] in audiences.refused(watching, code, $0) }
        case .look(let stages, let isSure, let reply): look(at: stages, isSure: isSure, reply)
        case .watchEnded(let watch):
            publishers.watchEnded(watch)
            machine.watchEnded(watch)
        case .stateChanged: validateSoon()
        }
        // Those who watch may have changed their deadline, with nothing to ask of the machine.
        rearm()
    }

    /// Many changes come at once, as when a stage is deleted: they are looked at together.
    private func validateSoon() {
        guard validation == nil else { return }
        validation = loop.schedule(after: .milliseconds(10)) { [unowned self] in
            validation = nil
            publishers.endRefused()
        }
    }
}

/// Claims and leases: between the machine's numbers and who waits behind them.
extension ClusterMember {
    private func claim(_ claim: ClusterOrder.Claim) {
        guard let number = claims.insert(.publisher(claim)) else { return claim.reply(.refused(Refusal(.overloaded))) }
        perform(machine.claim(NodeClaim(claim, number: number), clock))
    }

    private func claim(forAudienceOf stage: String) {
        let claimant = Claimant.audience(stageID: stage)
        guard let number = claims.insert(claimant) else { return refuse(claimant, Refusal(.overloaded)) }
        let key = LeaseKey.audience(ofStage: stage, node: leases.settings.nodeID)
        let claim = NodeClaim(number: number, key: key, set: "", credential: "", takesOver: false, isToken: true)
        perform(machine.claim(claim, clock))
    }

    private func refuse(_ claimant: Claimant, _ refusal: Refusal) {
        switch claimant {
        case .publisher(let claim): claim.reply(.refused(refusal))
        case .audience(let stage): audiences.refused(stageID: stage)
        }
    }

    private func granted(_ number: Int, _ lease: LeaseIdentity, _ session: SharedSession) {
        guard let claimant = claims.remove(number) else { return }
        guard case .publisher(let claim) = claimant else { return audiences.granted(lease, session) }
        if !publishers.granted(claim, lease, session) { perform(machine.release(lease)) }
    }

    private func heldHere(_ number: Int) {
        guard let claimant = claims.remove(number) else { return }
        guard case .publisher(let claim) = claimant else { return refuse(claimant, Refusal(.streamKeyInUse)) }
        let holder = leases.local.holder(ofParticipant: claim.grant.participantID, stageID: claim.grant.stageID)
        if let holder { return claim.reply(.held(by: holder)) }
        // Its session has just given the lease back, which is on its way to us: do it now.
        let key = LeaseKey(stageID: claim.grant.stageID, participantID: claim.grant.participantID)
        perform(machine.releaseHeld(key))
        self.claim(claim)
    }

    private func heldElsewhere(_ number: Int, watch: Int, _ progress: MonotonicTime) {
        guard let claimant = claims.remove(number) else { return machine.watchEnded(watch) }
        guard case .publisher(let claim) = claimant else {
            machine.watchEnded(watch)
            return refuse(claimant, Refusal(.streamKeyInUse))
        }
        publishers.heldElsewhere(claim, watch: watch, progress)
    }

    private func end(_ lease: LeaseIdentity, _ end: LeaseEnd) {
        if lease.key.isAudience { audiences.end(lease, end) } else { publishers.end(lease, end) }
    }

    private func revive(_ lease: LeaseIdentity, _ generation: UInt64) {
        if lease.key.isAudience { audiences.revive(lease) } else { publishers.revive(lease, generation: generation) }
    }

    // MARK: - What is asked about stages

    private func look(
        at arns: Set<String>, isSure: Bool, _ reply: @escaping @Sendable ([String: ClusterAnswer.StageView]?) -> Void
    ) {
        let gathering = StageViewGathering(count: arns.count) { [unowned self] views in
            // By now: what the servers answer after a silence comes behind the word that there was one.
            reply(isSure && machine.outage.grace(at: clock) != .none ? nil : views)
        }
        for arn in arns {
            look(at: ResourceName.identifier(inARN: arn), begins: false) { gathering.add($0, of: arn) }
        }
    }

    private func refused(_ grant: PublishGrant, _ ingestProtocol: IngestProtocol, _ code: String) {
        look(at: grant.stageID, begins: true) { [unowned self] view in
            guard let view, let session = view.session else { return }
            let isLive = view.participants.contains(grant.participantID)
            let isNew = leases.local.refused(
                grant, ingestProtocol, errorCode: code, session: StageSession(stageARN: grant.stageARN, session), isLive: isLive)
            if isNew { announce(session.id, ofStage: grant.stageID) }
        }
    }

    private func look(at stage: String, begins: Bool, then: @escaping (ClusterAnswer.StageView?) -> Void) {
        guard let number = looks.insert(then) else { return then(nil) }
        perform(machine.look(at: stage, number: number, begins: begins))
    }

    /// The history has just learnt of the session.
    private func announce(_ session: String, ofStage stage: String) {
        perform(machine.announce(session, ofStage: stage))
    }
}

// MARK: - Words

extension ClusterAction.Refused {
    fileprivate var refusal: Refusal {
        switch self {
        case .full: Refusal(.stageFull)
        case .inUse: Refusal(.streamKeyInUse)
        case .away: Refusal(.platformAway)
        }
    }
}

extension NodeClaim {
    fileprivate init(_ claim: ClusterOrder.Claim, number: Int) {
        let grant = claim.grant
        self.init(
            number: number, key: LeaseKey(stageID: grant.stageID, participantID: grant.participantID),
            set: grant.ingestConfigurationARN ?? grant.participantID, credential: grant.credentialHash,
            takesOver: claim.takesOver, isToken: grant.ingestConfigurationARN == nil)
    }
}
