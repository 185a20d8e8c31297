import EventLoop

/// Knows which server carries out a command. Behind `RedisClient` stands one of its kinds for each topology.
protocol CommandRouter: AnyObject {
    /// `servers` or `fault` has changed.
    var onChange: () -> Void { get set }
    /// Subscriptions hear all messages at these servers, and may not any more at others.
    var onServersChange: ([RedisEndpoint]) -> Void { get set }
    /// The primaries, when all of them can be had.
    var servers: [RedisServerIdentity]? { get }
    /// The latest reason why not.
    var fault: RedisFault { get }
    /// Replicas of the server that has the key.
    func replicaCount(for key: RedisArgument?) -> Int
    /// A link of its own for a subscription, to a server that hears what is published.
    func makeSubscriptionLink() -> Link

    func start()
    func close()
    /// Sends commands back to back to the server that has the key; see `RedisConnection.send`. When one of them is refused as
    /// another node's, none of them was carried out.
    func send(_ commands: [RedisCommand], key: RedisArgument?, replies: @escaping ([RedisReply]) -> Void)
}

/// One primary takes all commands, wherever a search finds it.
final class PrimaryRouter: CommandRouter {
    var onChange: () -> Void = {}
    var onServersChange: ([RedisEndpoint]) -> Void = { _ in }
    private(set) var fault = RedisFault.starting
    var servers: [RedisServerIdentity]? { link.identity.map { [$0] } }

    private let link: Link
    private let makeLink: () -> Link
    private let watch: SentinelWatch?

    /// A server that is known by its addresses.
    convenience init(
        loop: EventLoop, settings: RedisSettings, endpoints: [RedisEndpoint], lookup: HostLookup, chance: @escaping () -> Double
    ) {
        self.init(watch: nil) {
            Link(loop: loop, settings: settings, search: EndpointSearch(endpoints, lookup: lookup), chance: chance)
        }
    }

    /// A server that the sentinels know.
    convenience init(
        loop: EventLoop, settings: RedisSettings, sentinels: Sentinels, lookup: HostLookup, chance: @escaping () -> Double
    ) {
        let watch = SentinelWatch(loop: loop, sentinels, settings: settings, lookup: lookup, chance: chance)
        self.init(watch: watch) {
            let search = SentinelSearch(loop: loop, sentinels, settings: settings, lookup: lookup)
            return Link(loop: loop, settings: settings, search: search, chance: chance)
        }
    }

    private init(watch: SentinelWatch?, makeLink: @escaping () -> Link) {
        (self.watch, self.makeLink, link) = (watch, makeLink, makeLink())
        link.onUp = { [unowned self] in onChange() }
        link.onAway = { [unowned self] in
            fault = $0
            onChange()
        }
        watch?.onSwitch = { [unowned self] in
            link.serversChanged(to: [$0])
            onServersChange([$0])
        }
    }

    func replicaCount(for key: RedisArgument?) -> Int { link.replicaCount }

    func makeSubscriptionLink() -> Link { makeLink() }

    func start() {
        link.start()
        watch?.start()
    }

    func close() {
        fault = .closed
        link.close()
        watch?.close()
    }

    func send(_ commands: [RedisCommand], key: RedisArgument?, replies: @escaping ([RedisReply]) -> Void) {
        link.send(commands, replies: replies)
    }
}
