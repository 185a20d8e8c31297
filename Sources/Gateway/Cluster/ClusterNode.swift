import Admission
public import EventLoop
public import Redis
import Refusals
import Settings
import Store
import Wire

/// The node's part in the platform on the control loop: runs a `NodeMachine` on a connection to the server. Confined to the loop.
public final class ClusterNode {
    /// Told of the server's coming and going.
    public var onStateChange: (RedisState) -> Void = { _ in }
    /// Whether the node hears what others say; what it missed it reads at the next renewal.
    public private(set) var isListening = false
    /// What this node tells others of itself, with its next heartbeat.
    public var record: NodeRecord { didSet { machine.record = record.text } }
    public var state: RedisState { client.state }

    let loop: EventLoop
    let leases: ClusterLeases
    var machine: NodeMachine
    var pending = PendingReplies()
    private let client: RedisClient
    private let scripts = Dictionary(uniqueKeysWithValues: ClusterScript.allCases.map { ($0, RedisScript($0.source)) })
    private var mailbox: Mailbox<ClusterOrder>?
    private var subscription: RedisSubscription?
    private var timer: TimerWatch?
    private var validation: TimerWatch?
    private var clock: MonotonicTime { loop.now }

    /// - Throws: when the kernel gives no more descriptors.
    public init(loop: EventLoop, leases: ClusterLeases, redis: RedisSettings) throws(SystemError) {
        (self.loop, self.leases) = (loop, leases)
        record = NodeRecord(id: leases.settings.nodeID)
        machine = NodeMachine(
            settings: leases.settings,
            sources: NodeMachine.Sources(makeSessionID: Identifier.stageSession, wallNow: leases.platform.wallNow), now: loop.now)
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
        for claim in pending.claims.values { claim.reply(.refused(Refusal(.platformAway))) }
        pending = PendingReplies()
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
        let rest = max(.zero, machine.deadline - clock)
        if let timer { return timer.rearm(after: rest) }
        timer = loop.schedule(after: rest) { [unowned self] in perform(machine.timePassed(clock)) }
    }
}

// MARK: - Running

extension ClusterNode {
    func perform(_ actions: [ClusterAction]) {
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
        }
        let (keys, arguments) = (command.keys.map { RedisArgument($0) }, command.arguments.map { RedisArgument($0) })
        switch command.body {
        case .plain(let name): client.send(RedisCommand([RedisArgument(name)] + keys + arguments), key: keys.first, reply: reply)
        case .script(let name):
            guard let script = scripts[name] else { return }
            client.evaluate(script, keys: keys, arguments: arguments, reply: reply)
        }
    }

    private func take(_ order: ClusterOrder) {
        switch order {
        case .claim(let claim): perform(machine.claim(pending.add(claim), clock))
        case .release(let lease): perform(machine.release(LeaseIdentity(lease), clock))
        case .end(let participant, let refusal):
            let stage = ResourceName.identifier(inARN: participant.stageARN)
            perform(machine.end(stage: stage, participant: participant.participantID, LeaseEnding(refusal)))
        case .endAll(let arn, let refusal):
            let stage = ResourceName.identifier(inARN: arn)
            perform(machine.end(stage: stage, participant: nil, LeaseEnding(refusal)))
        case .announced(let stage, let session): perform([.call(.announce(stage: stage, sessionID: session))])
        case .refused(let grant, let ingestProtocol, let code): refused(grant, ingestProtocol, code)
        case .look(let stages, let reply): look(at: stages, reply)
        case .watchEnded(let watch): pending.holders[watch] = nil; machine.watchEnded(watch)
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
