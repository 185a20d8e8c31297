import EventLoop

/// One primary takes all commands, wherever a search finds it.
final class PrimaryRouter: CommandRouter {
    var onChange: () -> Void = {}
    private(set) var fault = RedisFault.starting
    var servers: [RedisServerIdentity]? { link.identity.map { [$0] } }

    private let link: Link
    private let makeSearch: () -> any AddressSearch

    init(loop: EventLoop, settings: RedisSettings, chance: @escaping () -> Double, makeSearch: @escaping () -> any AddressSearch)
    {
        self.makeSearch = makeSearch
        link = Link(loop: loop, settings: settings, search: makeSearch(), chance: chance)
        link.onUp = { [unowned self] _ in onChange() }
        link.onAway = { [unowned self] in
            fault = $0
            onChange()
        }
    }

    func replicaCount(for key: RedisArgument?) -> Int { link.replicaCount }

    func makeSubscriptionSearch() -> any AddressSearch { makeSearch() }

    func start() { link.start() }

    func close() {
        fault = .closed
        link.close()
    }

    func send(_ commands: [RedisCommand], key: RedisArgument?, replies: @escaping ([RedisReply]) -> Void) {
        link.send(commands, replies: replies)
    }
}
