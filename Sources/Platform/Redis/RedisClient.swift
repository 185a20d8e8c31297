public import EventLoop
public import Wire

/// Redis or Valkey for one event loop: standalone, behind Sentinel, or a Cluster.
///
/// Confined to its loop. Every reply is called exactly once and never from inside the call that asks for it. Nothing is queued
/// while the server is away, and nothing is sent twice but what a cluster redirects: what a failure means is the caller's to say.
///
///     let client = try RedisClient(loop: loop, settings: RedisSettings(.standalone([RedisEndpoint(host: "localhost")])))
///     client.start()
///     client.send(RedisCommand("INCR", "visits"), key: "visits") { reply in
///         if case .success(.integer(let visits)) = reply { show(visits) }
///     }
public final class RedisClient {
    /// Called at each change, and at each further reason why the server is still away.
    public var onStateChange: (RedisState) -> Void = { _ in }
    /// Whether the servers can be had now.
    public private(set) var state: RedisState

    private let router: any CommandRouter
    private let loop: EventLoop
    /// Asks for a subscription that may be gone.
    private var subscriptions: [() -> RedisSubscription?] = []

    /// - Parameter chance: random numbers of at least 0 and below 1, for the pauses between attempts.
    /// - Throws: when the kernel gives no more descriptors.
    public init(
        loop: EventLoop, settings: RedisSettings, chance: @escaping () -> Double = { .random(in: 0..<1) }
    ) throws(SystemError) {
        self.loop = loop
        state = .away(since: loop.now, .starting)
        router = try Self.makeRouter(loop: loop, settings: settings, chance: chance)
        router.onChange = { [unowned self] in routerChanged() }
        router.onServersChange = { [unowned self] servers in for find in subscriptions { find()?.serversChanged(to: servers) } }
    }

    deinit { router.close() }

    /// Connects, and reconnects until `close()`.
    public func start() { router.start() }

    /// Ends all connections, as dropping the client does. Replies still awaited are called with `.lost` from inside this call.
    public func close() {
        router.close()
        for find in subscriptions { find()?.close() }
        routerChanged()
    }

    /// Listens to channels, whatever node of a cluster they are published at. Dropping the subscription ends it.
    public func subscribe(
        to channels: [String], onChange: @escaping (RedisSubscription.Change) -> Void,
        onMessage: @escaping (_ channel: String, _ payload: [UInt8]) -> Void
    ) -> RedisSubscription {
        let link = router.makeSubscriptionLink()
        let subscription = RedisSubscription(to: channels, over: link, onChange: onChange, onMessage: onMessage)
        subscriptions.removeAll { $0() == nil }
        subscriptions.append { [weak subscription] in subscription }
        return subscription
    }

    private static func makeRouter(
        loop: EventLoop, settings: RedisSettings, chance: @escaping () -> Double
    ) throws(SystemError) -> any CommandRouter {
        let lookup = try HostLookup(loop: loop)
        switch settings.topology {
        case .standalone(let endpoints):
            return PrimaryRouter(loop: loop, settings: settings, endpoints: endpoints, lookup: lookup, chance: chance)
        case .sentinel(let primary, let sentinels, let credential):
            let sentinels = Sentinels(primary: primary, endpoints: sentinels, credential: credential)
            return PrimaryRouter(loop: loop, settings: settings, sentinels: sentinels, lookup: lookup, chance: chance)
        case .cluster(let seeds):
            return ClusterRouter(loop: loop, settings: settings, seeds: seeds, lookup: lookup, chance: chance)
        }
    }

    private func routerChanged() {
        let before = state
        if let servers = router.servers {
            state = .connected(servers)
        } else if case .away(let since, _) = before {
            state = .away(since: since, router.fault)
        } else {
            state = .away(since: loop.now, router.fault)
        }
        if state != before { onStateChange(state) }
    }
}

// MARK: - Commands

extension RedisClient {
    /// Sends one command.
    /// - Parameters:
    ///   - key: decides which node of a cluster gets the command; nil where any may.
    ///   - reply: called once, later: with the answer, with `.refused` for an error of the server's, with `.away` or
    ///     `.pipelineFull` when nothing was sent, and with `.lost` when the connection ended before the answer.
    public func send(_ command: RedisCommand, key: RedisArgument? = nil, reply: @escaping (RedisReply) -> Void) {
        router.send([command], key: key) { reply($0[0]) }
    }

    /// Runs a script by its digest, and by its text where the server does not know it yet. All keys live in one slot.
    public func evaluate(
        _ script: RedisScript, keys: [RedisArgument], arguments: [RedisArgument] = [], reply: @escaping (RedisReply) -> Void
    ) {
        send(script.command(true, keys: keys, arguments: arguments), key: keys.first) { [weak self] answer in
            guard case .failure(.refused(let refusal)) = answer, refusal.code == "NOSCRIPT", let self else {
                return reply(answer)
            }
            send(script.command(false, keys: keys, arguments: arguments), key: keys.first, reply: reply)
        }
    }

    // MARK: Durable writes

    /// An answer, and how many replicas had the write by then.
    public typealias DurableReply = Result<(value: RedisValue, replicas: Int), RedisError>

    /// How many replicas the server that has the key knows of, as of its last heartbeat.
    public func replicaCount(for key: RedisArgument) -> Int { router.replicaCount(for: key) }

    /// Sends a write and waits until one replica has it too (WAIT), so that it outlives its primary. A primary without replicas
    /// is not asked to wait for one.
    ///
    /// Commands that follow on the same connection wait as long, which is why the wait is short.
    /// - Parameter limit: how long a replica is waited for. When that was too short the number is 0, and the write stands.
    public func sendDurably(
        _ command: RedisCommand, key: RedisArgument? = nil, within limit: Duration, reply: @escaping (DurableReply) -> Void
    ) {
        guard router.replicaCount(for: key) > 0 else { return send(command, key: key) { reply($0.map { ($0, 0) }) } }
        let wait = RedisCommand("WAIT", 1, RedisArgument(max(1, limit.milliseconds)))
        router.send([command, wait], key: key) { answers in
            let replicas = (try? answers[1].get().integer) ?? 0
            reply(answers[0].map { ($0, Int(replicas)) })
        }
    }
}

/// Whether the servers can be had.
public enum RedisState: Equatable, Sendable {
    /// Since when, and the latest reason.
    case away(since: MonotonicTime, RedisFault)
    /// The primary; in a cluster all primaries, by address. Other run ids than before mean that writes may have been lost.
    case connected([RedisServerIdentity])

    /// Whether every primary can be had.
    public var isConnected: Bool { if case .connected = self { true } else { false } }

    /// The run ids of the primaries, sorted; empty while away.
    public var runIDs: [String] {
        if case .connected(let servers) = self { servers.map(\.runID).sorted() } else { [] }
    }
}

/// A primary that greeted us.
public struct RedisServerIdentity: Equatable, Sendable {
    /// Where it answered.
    public let address: SocketAddress
    /// Changes at every start of the server's process.
    public let runID: String
    /// Of the server's program, as it says: `7.2.4`.
    public let version: String
}
