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
    /// Told why the server has written nothing for a while though it answers, and of nil once it writes again.
    public var onWritesChange: (RedisError?) -> Void = { _ in }
    /// Whether the node hears what others say; what it missed it reads at the next renewal.
    public private(set) var isListening = false
    /// What this node tells others of itself, with its next heartbeat.
    public var record: NodeRecord { didSet { machine.record = record.text } }
    public var state: RedisState { client.state }

    /// A remote holder lives as long as a claim looks at it.
    private struct WeakHolder {
        weak var holder: RemoteHolder?
    }

    /// Who waits for a lease.
    private enum Claimant {
        case publisher(ClusterOrder.Claim)
        case audience(stageID: String)
    }

    /// Claims, and looks at stages, that wait for the server: as many as orders fit into the mailbox.
    private static let maximumWaiting = 65_536

    private let loop: EventLoop
    private let leases: ClusterLeases
    private var machine: NodeMachine
    private var claims = ReplyTable<Claimant>(maximumCount: maximumWaiting)
    private var desk = AudienceDesk()
    private var looks = ReplyTable<(ClusterAnswer.StageView?) -> Void>(maximumCount: maximumWaiting)
    /// By the number of their watch.
    private var remoteHolders: [Int: WeakHolder] = [:]
    private let client: RedisClient
    private let scripts = Dictionary(uniqueKeysWithValues: ClusterScript.allCases.map { ($0, RedisScript($0.source)) })
    private var mailbox: Mailbox<ClusterOrder>?
    private var subscription: RedisSubscription?
    private var timer: TimerWatch?
    private var validation: TimerWatch?
    /// As `onWritesChange` was told; a server that comes back has to take a heartbeat first.
    private var isRefusing = false
    private var clock: MonotonicTime { loop.now }

    /// - Throws: when the kernel gives no more descriptors.
    public init(loop: EventLoop, leases: ClusterLeases, redis: RedisSettings) throws(SystemError) {
        (self.loop, self.leases) = (loop, leases)
        record = NodeRecord(id: leases.settings.nodeID)
        machine = NodeMachine(
            settings: leases.settings,
            sources: NodeMachine.Sources(makeSessionID: Identifier.stageSession, wallNow: leases.environment.wallNow),
            now: loop.now)
        machine.record = record.text
        client = try RedisClient(loop: loop, settings: redis)
        mailbox = try Mailbox(loop: loop) { [unowned self] in take($0) }
        client.onStateChange = { [unowned self] in changed($0) }
    }

    /// Serves claims from now on; they are refused until the server is there.
    public func start() {
        leases.control.withLock { $0 = mailbox?.sender }
        client.start()
        let keys = ClusterKeys(prefix: leases.settings.cluster.keyPrefix)
        subscription = client.subscribe(
            to: [keys.channel(ofNode: leases.settings.nodeID)],
            onChange: { [unowned self] change in heard(change) },
            onMessage: { [unowned self] _, payload in
                if let message = NodeMessage(parsing: payload) { perform(machine.received(message, clock)) }
            })
        rearm()
    }

    /// Ends the connections. What is held stays held until it expires; nothing more is answered.
    public func close() {
        leases.control.withLock { $0 = nil }
        (client.onStateChange, timer, validation) = ({ _ in }, nil, nil)
        subscription?.close()
        client.close()
        for claimant in claims.removeAll() { refuse(claimant, Refusal(.platformAway)) }
        for look in looks.removeAll() { look(nil) }
        remoteHolders = [:]
    }

    private func changed(_ state: RedisState) {
        if state.isConnected {
            perform(machine.connected(runID: state.runIDs.joined(separator: ","), clock))
        } else {
            machine.disconnected()
        }
        onStateChange(state)
    }

    private func heard(_ change: RedisSubscription.Change) {
        isListening = change == .listening
        // What was said while nobody listened stands in the records of what is held.
        if isListening { perform(machine.renewNow(clock)) }
    }

    private func rearm() {
        let deadline = desk.deadline.map { min($0, machine.deadline) } ?? machine.deadline
        let rest = max(.zero, deadline - clock)
        if let timer { return timer.rearm(after: rest) }
        timer = loop.schedule(after: rest) { [unowned self] in
            perform(desk.timePassed(clock))
            perform(machine.timePassed(clock))
        }
    }
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
        case .send(let message, let node):
            let channel = ClusterKeys(prefix: leases.settings.cluster.keyPrefix).channel(ofNode: node)
            client.send(RedisCommand("PUBLISH", RedisArgument(channel), RedisArgument(message.serialized()))) { _ in }
        case .nodesChanged:
            leases.keepRenewals { self.machine.holds(stage: $0) }
            leases.updateNodes(machine.nodes.map { NodeRecord(id: $0.key, parsing: $0.value) }.sorted { $0.id < $1.id })
        default: follow(action)
        }
    }

    private func run(_ call: ClusterCall) {
        let command = call.command(leases.settings)
        let sentAt = clock
        let reply: (RedisReply) -> Void = { [weak self] reply in
            guard let self else { return }
            let answer = (try? reply.get()).flatMap { ClusterAnswer($0, to: call) }
            perform(machine.answered(call, answer, sentAt: sentAt, clock))
            if case .heartbeat = call { noteHeartbeat(isWritten: answer != nil, reply) }
            if case .renew(let stage, _) = call, case .renewed(let results) = answer, !results.contains(where: \.isLost) {
                leases.renewed(stageID: stage, sentAt: sentAt)
            }
        }
        let (keys, arguments) = (command.keys.map { RedisArgument($0) }, command.arguments.map { RedisArgument($0) })
        switch command.body {
        case .plain(let name): client.send(RedisCommand([RedisArgument(name)] + keys + arguments), key: keys.first, reply: reply)
        case .script(let name):
            guard let script = scripts[name] else { return }
            client.evaluate(script, keys: keys, arguments: arguments, reply: reply)
        }
    }

    private func noteHeartbeat(isWritten: Bool, _ reply: RedisReply) {
        let isRefused = !isWritten && (isRefusing || machine.outage.isRefusing(at: clock))
        guard isRefused != isRefusing else { return }
        isRefusing = isRefused
        guard isRefused else { return onWritesChange(nil) }
        if case .failure(let error) = reply { onWritesChange(error) } else { onWritesChange(.unexpected) }
    }

    private func take(_ order: ClusterOrder) {
        switch order {
        case .claim(let claim): self.claim(claim)
        case .release(let lease): perform(machine.release(LeaseIdentity(lease), clock))
        case .end(let participant, let refusal):
            let stage = ResourceName.identifier(inARN: participant.stageARN)
            perform(machine.end(stage: stage, participant: participant.participantID, LeaseEnding(refusal)))
        case .endAll(let arn, let refusal):
            let stage = ResourceName.identifier(inARN: arn)
            perform(machine.end(stage: stage, participant: nil, LeaseEnding(refusal)))
        case .announced(let stage, let session): perform([.call(.announce(stage: stage, sessionID: session))])
        case .refused(let grant, let ingestProtocol, let code): refused(grant, ingestProtocol, code)
        case .watchStarted(let watching): perform(desk.started(watching))
        case .watchStopped(let watching): perform(desk.stopped(watching))
        case .watchRefused(let watching, let code): refused(watching, code)
        case .look(let stages, let reply): look(at: stages, reply)
        case .watchEnded(let watch):
            remoteHolders[watch] = nil
            machine.watchEnded(watch)
        case .stateChanged: validateSoon()
        }
    }

    /// Many changes come at once, as when a stage is deleted: they are looked at together.
    private func validateSoon() {
        guard validation == nil else { return }
        validation = loop.schedule(after: .milliseconds(10)) { [unowned self] in
            validation = nil
            for entry in leases.local.entries {
                if let refusal = leases.refusal(of: entry.grant) { entry.holder.end(.disconnected(refusal)) }
            }
        }
    }
}

/// Claims and leases: between the machine's numbers and who waits behind them.
extension ClusterMember {
    private func follow(_ action: ClusterAction) {
        switch action {
        case .granted(let number, let lease, let session): granted(number, lease, session)
        case .heldHere(let number): heldHere(number)
        case .heldElsewhere(let number, let watch, let progress): heldElsewhere(number, watch, progress)
        case .refused(let number, let reason): if let claimant = claims.remove(number) { refuse(claimant, reason.refusal) }
        case .progressed(let watch, let time): remoteHolders[watch]?.holder?.progressed(at: time)
        case .gone(let watch): remoteHolders[watch]?.holder?.ended()
        case .end(let lease, let end): self.end(lease, end)
        case .revive(let lease, _) where lease.key.isAudience: perform(desk.revived(stageID: lease.key.stageID))
        case .revive(let lease, let generation): revive(lease, generation)
        case .inspect(let question): inspect(question)
        case .closed(let stage, let ended): close(ended, ofStage: stage)
        case .sessionEnded(let stage, let session):
            let arn = leases.environment.stageARN(stage)
            leases.environment.record([.sessionEnded(stageARN: arn, sessionID: session, at: leases.environment.wallNow())])
        case .looked(let number, let view): looks.remove(number)?(view)
        case .call, .send, .nodesChanged: break
        }
    }

    private func claim(_ claim: ClusterOrder.Claim) {
        guard let number = claims.insert(.publisher(claim)) else { return claim.reply(.refused(Refusal(.overloaded))) }
        perform(machine.claim(NodeClaim(claim, number: number), clock))
    }

    private func refuse(_ claimant: Claimant, _ refusal: Refusal) {
        switch claimant {
        case .publisher(let claim): claim.reply(.refused(refusal))
        case .audience(let stage): desk.refused(stageID: stage, clock)
        }
    }

    private func end(_ lease: LeaseIdentity, _ end: LeaseEnd) {
        guard lease.key.isAudience else {
            holder(of: lease)?.end(end)
            return
        }
        // Whose token was taken away is ended by itself; another of our name may have the lease.
        if end == .takenOver { desk.lost(stageID: lease.key.stageID, clock) }
    }

    private func granted(_ number: Int, _ identity: LeaseIdentity, _ session: SharedSession) {
        guard let claimant = claims.remove(number) else { return }
        guard case .publisher(let claim) = claimant else { return perform(desk.granted(identity, session)) }
        let lease = PublishLease(
            participantID: identity.key.participantID, stageID: identity.key.stageID, stageSessionID: session.id,
            generation: identity.generation)
        let entry = LocalLeases.Entry(lease: lease, grant: claim.grant, holder: claim.holder)
        let displaced = leases.local.insert(
            entry, claim.ingestProtocol, session: StageSession(stageARN: claim.grant.stageARN, session))
        displaced?.end(.takenOver)
        // Looked at when the lease stands: what is committed from now on ends it.
        if let refusal = leases.refusal(of: claim.grant) {
            leases.local.release(lease)
            claim.reply(.refused(refusal))
            return perform(machine.release(identity, clock))
        }
        claim.reply(.granted(lease))
    }

    private func heldHere(_ number: Int) {
        guard let claimant = claims.remove(number) else { return }
        guard case .publisher(let claim) = claimant else { return refuse(claimant, Refusal(.streamKeyInUse)) }
        let holder = leases.local.holder(ofParticipant: claim.grant.participantID, stageID: claim.grant.stageID)
        if let holder { return claim.reply(.held(by: holder)) }
        // Its session has just given the lease back, which is on its way to us: do it now.
        let key = LeaseKey(stageID: claim.grant.stageID, participantID: claim.grant.participantID)
        perform(machine.releaseHeld(key, clock))
        self.claim(claim)
    }

    private func heldElsewhere(_ number: Int, _ watch: Int, _ progress: MonotonicTime) {
        guard let claimant = claims.remove(number) else { return machine.watchEnded(watch) }
        guard case .publisher(let claim) = claimant else {
            machine.watchEnded(watch)
            return refuse(claimant, Refusal(.streamKeyInUse))
        }
        let sender = leases.control.withLock { $0 }
        let participant = StageParticipant(claim.grant.participantID, of: claim.grant.stageARN)
        let holder = RemoteHolder(progress: progress) { reason in
            // Taking over is claimed, not said.
            if case .disconnected(let refusal) = reason { _ = sender?.send(.end(participant, refusal)) }
        } onForgotten: {
            _ = sender?.send(.watchEnded(watch))
        }
        remoteHolders[watch] = WeakHolder(holder: holder)
        claim.reply(.held(by: holder))
    }

    private func holder(of lease: LeaseIdentity) -> (any LeaseHolder)? {
        leases.local.holder(
            ofParticipant: lease.key.participantID, stageID: lease.key.stageID, generation: lease.generation)
    }

    private func revive(_ lease: LeaseIdentity, _ generation: UInt64) {
        let entry = leases.local.entries.first { LeaseIdentity($0.lease) == lease }
        if let entry { leases.local.revive(entry.lease, generation: generation) }
    }

    private func inspect(_ question: NodeMessage.Question) {
        let holder = holder(of: question.lease)
        let isLive = holder.map { !$0.hasEnded } ?? false
        let age = holder.map { max(.zero, clock - $0.lastProgress) } ?? .zero
        perform(machine.inspected(question, isLive ? .live(age: age) : .gone))
    }

    private func close(_ ended: [EndedLease], ofStage stage: String) {
        let (arn, now) = (leases.environment.stageARN(stage), leases.environment.wallNow())
        leases.environment.record(
            ended.map { entry in
                .closed(
                    stageARN: arn, sessionID: entry.sessionID, participantID: entry.lease.key.participantID,
                    generation: entry.lease.generation, at: now)
            })
    }

    // MARK: - Those who watch

    private func perform(_ actions: [AudienceDesk.Action]) {
        for action in actions { perform(action) }
        rearm()
    }

    private func perform(_ action: AudienceDesk.Action) {
        switch action {
        case .claim(let stage):
            guard let number = claims.insert(.audience(stageID: stage)) else { return desk.refused(stageID: stage, clock) }
            let key = LeaseKey.audience(ofStage: stage, node: leases.settings.nodeID)
            perform(
                machine.claim(
                    NodeClaim(number: number, key: key, set: "", credential: "", takesOver: false, isToken: true), clock))
        case .release(let lease): perform(machine.release(lease, clock))
        case .start(let watching, let session):
            let session = StageSession(stageARN: watching.grant.stageARN, session)
            announce(session, if: leases.local.watchStarted(watching, session: session))
        case .stop(let watching): leases.local.watchStopped(watching)
        case .move(let arn, let session):
            let session = StageSession(stageARN: arn, session)
            announce(session, if: leases.local.moveViewers(to: session))
        }
    }

    /// - Parameter isNew: the history has just learnt of it.
    private func announce(_ session: StageSession, if isNew: Bool) {
        let stage = ResourceName.identifier(inARN: session.stageARN)
        if isNew { perform([.call(.announce(stage: stage, sessionID: session.sessionID))]) }
    }

    private func refused(_ watching: Watching, _ code: String) {
        look(at: watching.grant.stageID, begins: false) { [unowned self] view in
            guard let view, view.isRecorded, let session = view.session else { return }
            let stageSession = StageSession(stageARN: watching.grant.stageARN, session)
            leases.local.watchRefused(watching, errorCode: code, session: stageSession)
        }
    }

    // MARK: - What is asked about stages

    private func look(at arns: Set<String>, _ reply: @escaping @Sendable ([String: ClusterAnswer.StageView]?) -> Void) {
        let gathering = Gathering(count: arns.count, reply)
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
            if isNew { perform([.call(.announce(stage: grant.stageID, sessionID: session.id))]) }
        }
    }

    private func look(at stage: String, begins: Bool, then: @escaping (ClusterAnswer.StageView?) -> Void) {
        guard let number = looks.insert(then) else { return then(nil) }
        perform(machine.look(at: stage, number: number, begins: begins))
    }
}

// MARK: - Words

extension LeaseIdentity {
    fileprivate init(_ lease: PublishLease) {
        self.init(LeaseKey(stageID: lease.stageID, participantID: lease.participantID), generation: lease.generation)
    }
}

extension LeaseEnding {
    fileprivate init(_ refusal: Refusal) { self.init(code: refusal.code.number, words: refusal.sentence) }
}

extension LeaseEnd {
    /// Without words it is the surplus that a renewal found.
    private static let surplus =
        "The stage has more publishers than it may have, which came to light after a failover: the newest had to go."

    init(_ ending: LeaseEnding) {
        self = .disconnected(number: ending.code, sentence: ending.words.isEmpty ? Self.surplus : ending.words)
    }
}

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

/// Answers about several stages, told together; without one of them nothing is known.
private final class Gathering {
    private var views: [String: ClusterAnswer.StageView] = [:]
    private var missing: Int
    private let reply: ([String: ClusterAnswer.StageView]?) -> Void
    private var isIncomplete = false

    init(count: Int, _ reply: @escaping ([String: ClusterAnswer.StageView]?) -> Void) {
        (missing, self.reply) = (count, reply)
        if count == 0 { reply([:]) }
    }

    func add(_ view: ClusterAnswer.StageView?, of arn: String) {
        views[arn] = view
        isIncomplete = isIncomplete || view == nil
        missing -= 1
        if missing == 0 { reply(isIncomplete ? nil : views) }
    }
}
