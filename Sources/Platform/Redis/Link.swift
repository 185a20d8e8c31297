import EventLoop
import Wire

/// Keeps one greeted connection to a server alive: carries out what its lifecycle says.
final class Link {
    var onUp: () -> Void = {}
    /// The connection is lost, or an attempt to get one failed: once for each attempt.
    var onAway: (RedisFault) -> Void = { _ in }

    private(set) var identity: RedisServerIdentity?
    /// The greeted connection, while it stands.
    private(set) var connection: RedisConnection?

    /// Replicas of the server, as of the latest heartbeat.
    private(set) var replicaCount = 0

    let loop: EventLoop
    let settings: RedisSettings
    private let role: ServerRole
    private let search: any AddressSearch
    private let chance: () -> Double
    private var lifecycle: LinkLifecycle
    private var attempt: RedisConnection?
    private var deadline: TimerWatch?
    private var pause: TimerWatch?
    private var heartbeat: TimerWatch?
    private let refusals: PromptRefusals

    init(
        loop: EventLoop, settings: RedisSettings, role: ServerRole = .primary, search: any AddressSearch,
        chance: @escaping () -> Double
    ) {
        (self.loop, self.settings, self.role, self.search, self.chance) = (loop, settings, role, search, chance)
        refusals = PromptRefusals(loop: loop)
        lifecycle = LinkLifecycle(limits: settings.limits)
    }

    deinit { close() }

    func start() { perform(lifecycle.start()) }

    /// Ends it for good: replies still awaited are called with `.lost` from inside this call.
    func close() {
        lifecycle.close()
        for watch in [deadline, pause, heartbeat] { watch?.cancel() }
        let open = [attempt, connection]
        (attempt, connection, identity) = (nil, nil, nil)
        for connection in open { connection?.close() }
    }

    /// Leaves the server, because it is not the right one, and searches again.
    func lookAgain(because fault: RedisFault) {
        if connection != nil {
            lose(fault)
        } else if attempt != nil {
            attemptFailed(fault)
        }
    }

    /// These are the servers in use now: unless ours is one of them it is left, for one that is found without a pause.
    func serversChanged(to servers: [RedisEndpoint]) {
        if let identity, servers.contains(where: { $0.address == identity.address }) { return }
        lookAgain(because: .replaced(servers))
        pause?.cancel()
        perform(lifecycle.hurry())
    }

    /// Sends commands back to back; see `RedisConnection.send`.
    func send(_ commands: [RedisCommand], replies: @escaping ([RedisReply]) -> Void) {
        guard let connection else { return refusals.refuse(commands, with: .away, replies) }
        connection.send(commands) { [weak self, weak connection] answers in
            replies(answers)
            guard let self, let connection, connection === self.connection else { return }
            if answers.contains(where: \.isOfAnotherPrimary) { lose(.notPrimary(connection.remoteAddress)) }
        }
    }
}

// MARK: - Steps

extension Link {
    private func perform(_ step: LinkLifecycle.Step) {
        switch step {
        case .nothing: break
        case .search: find()
        case .connect(let candidate): connect(to: candidate)
        case .pause(let time): pause = loop.schedule(after: time) { [unowned self] in perform(lifecycle.paused()) }
        }
    }

    private func find() {
        search.search { [weak self] result in
            guard let self else { return }
            if case .failure(let fault) = result { onAway(fault) }
            perform(lifecycle.found((try? result.get()) ?? [], chance: chance()))
        }
    }

    private func connect(to candidate: ServerCandidate) {
        do {
            let attempt = try RedisConnection(
                loop: loop, address: candidate.address, tls: settings.tls?(), serverName: candidate.name, limits: settings.limits)
            attempt.onOpen = { [unowned self, unowned attempt] in greet(attempt) }
            attempt.onClosed = { [unowned self] in attemptFailed(.ended(candidate.address, $0)) }
            self.attempt = attempt
            deadline = loop.schedule(after: settings.limits.connectTimeout) { [unowned self] in
                attemptFailed(.connectTimedOut(candidate.address))
            }
        } catch {
            // In another turn: a search that answers at once must not run in circles.
            deadline = loop.schedule(after: .zero) { [unowned self] in attemptFailed(.noSocket(error)) }
        }
    }

    private func greet(_ attempt: RedisConnection) {
        let greeting = Greeting(settings: settings, role: role)
        attempt.send(greeting.commands) { [weak self, unowned attempt] replies in
            guard let self, self.attempt === attempt else { return }
            // The end of the connection, which follows, says more than its lost answers; a refusal before it says most.
            if replies.first(where: \.isFailure) == .failure(.lost) { return }
            switch greeting.judge(replies, from: attempt.remoteAddress) {
            case .success(let identity): established(attempt, identity)
            case .failure(let fault): attemptFailed(fault)
            }
        }
    }

    private func attemptFailed(_ fault: RedisFault) {
        deadline?.cancel()
        let failed = attempt
        attempt = nil
        failed?.close()
        onAway(fault)
        perform(lifecycle.failed(at: loop.now, chance: chance()))
    }

    private func established(_ connection: RedisConnection, _ identity: RedisServerIdentity) {
        deadline?.cancel()
        (attempt, self.connection, self.identity) = (nil, connection, identity)
        connection.onClosed = { [unowned self] in lose(.ended(identity.address, $0)) }
        lifecycle.established(at: loop.now)
        heartbeat = loop.schedule(after: .zero, repeating: settings.limits.heartbeat) { [unowned self] in beat() }
        onUp()
    }

    /// A silent server is found before it is needed, and a primary that was demoted before it refuses a write.
    private func beat() {
        guard let connection else { return }
        guard role == .primary, connection.onMessage == nil else { return connection.send("PING") { _ in } }
        connection.send(RedisCommand("INFO", "replication")) { [weak self, weak connection] reply in
            guard let self, let connection, connection === self.connection, let text = try? reply.get().text else { return }
            let information = ServerInformation(text)
            replicaCount = information.replicaCount
            if information.isPrimary == false { lose(.notPrimary(connection.remoteAddress)) }
        }
    }

    private func lose(_ fault: RedisFault) {
        heartbeat?.cancel()
        let lost = connection
        (connection, identity) = (nil, nil)
        lost?.close()
        onAway(fault)
        perform(lifecycle.failed(at: loop.now, chance: chance()))
    }
}

extension RedisReply {
    fileprivate var isFailure: Bool { if case .failure = self { true } else { false } }

    /// The server says that it is not the primary that we took it for.
    fileprivate var isOfAnotherPrimary: Bool {
        if case .failure(.refused(let refusal)) = self { refusal.isOfAnotherPrimary } else { false }
    }
}
