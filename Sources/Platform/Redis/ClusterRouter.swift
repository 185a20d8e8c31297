import EventLoop
import Wire

/// Sends every command to the primary that has its key's slot, and after it where slots move
/// (redis.io/docs/reference/cluster-spec).
final class ClusterRouter: CommandRouter {
    var onChange: () -> Void = {}
    var onServersChange: ([RedisEndpoint]) -> Void = { _ in }
    private(set) var fault = RedisFault.starting

    private let loop: EventLoop
    private let makeLink: (ServerRole, @escaping () -> [RedisEndpoint]) -> Link
    private let topology: ClusterTopology
    private let known: KnownNodes
    private let refusals: PromptRefusals
    private let maximumWaiting: Int
    private var map = SlotMap()
    /// A redirection has corrected the map since it was read.
    private var isMapCorrected = false
    private var nodes: [RedisEndpoint: ClusterPrimary] = [:]
    private var pauses: [ObjectIdentifier: (request: ClusterRequest, timer: TimerWatch)] = [:]
    private var isClosed = false

    init(
        loop: EventLoop, settings: RedisSettings, seeds: [RedisEndpoint], lookup: HostLookup, chance: @escaping () -> Double
    ) {
        let known = KnownNodes(seeds: seeds)
        (self.loop, self.known, refusals) = (loop, known, PromptRefusals(loop: loop))
        maximumWaiting = settings.limits.maximumPipelinedCommands
        let makeLink = { (role: ServerRole, endpoints: @escaping () -> [RedisEndpoint]) in
            Link(
                loop: loop, settings: settings, role: role, search: EndpointSearch(lookup: lookup, endpoints), chance: chance)
        }
        self.makeLink = makeLink
        topology = ClusterTopology(link: makeLink(.clusterNode) { known.all })
        topology.onMap = { [unowned self] in use($0) }
        topology.onFault = { [unowned self] in if nodes.isEmpty { failed($0) } }
    }

    var servers: [RedisServerIdentity]? {
        guard map.isComplete else { return nil }
        let identities = map.primaries.compactMap { nodes[$0]?.link.identity }
        return identities.count == map.primaries.count ? identities.sorted { "\($0.address)" < "\($1.address)" } : nil
    }

    func replicaCount(for key: RedisArgument?) -> Int { owner(of: key)?.link.replicaCount ?? 0 }

    func makeSubscriptionLink() -> Link {
        let known = known
        return makeLink(.clusterNode) { known.all }
    }

    func start() { topology.start() }

    func close() {
        (isClosed, fault) = (true, .closed)
        topology.close()
        for node in nodes.values { node.close() }
        let paused = pauses.values
        pauses = [:]
        for (request, timer) in paused {
            timer.cancel()
            request.fail(.away)
        }
    }
}

// MARK: - The cluster's nodes

extension ClusterRouter {
    private func use(_ map: SlotMap) {
        (self.map, isMapCorrected) = (map, false)
        learn(map.nodes)
        for endpoint in map.primaries { _ = node(at: endpoint) }
        for node in nodes.values where !map.primaries.contains(node.endpoint) && node.isIdle {
            nodes[node.endpoint] = nil
            node.close()
        }
        changed()
    }

    /// Messages reach every node that the others know. Nodes that are known by names cannot be compared with others here.
    private func learn(_ endpoints: [RedisEndpoint]) {
        let isNews = Set(endpoints) != Set(known.learned)
        known.learned = endpoints
        if isNews, endpoints.allSatisfy({ $0.address != nil }) { onServersChange(endpoints) }
    }

    private func node(at endpoint: RedisEndpoint) -> ClusterPrimary {
        if let node = nodes[endpoint] { return node }
        let node = ClusterPrimary(endpoint, link: makeLink(.primary) { [endpoint] }, maximumWaiting: maximumWaiting)
        nodes[endpoint] = node
        node.link.onUp = { [unowned self, unowned node] in
            node.linkChanged()
            changed()
        }
        node.link.onAway = { [unowned self, unowned node] in
            node.linkChanged()
            failed($0)
        }
        node.link.start()
        return node
    }

    /// Any will do for a command without a key.
    private func owner(of key: RedisArgument?) -> ClusterPrimary? {
        guard let key else { return nodes.values.first { $0.link.connection != nil } }
        return map[KeySlot(of: key)].map { node(at: $0) }
    }

    private func failed(_ fault: RedisFault) {
        self.fault = fault
        changed()
    }

    private func changed() {
        guard !isClosed else { return }
        topology.judge(isAmiss: isMapCorrected || servers == nil)
        onChange()
    }
}

// MARK: - Requests

extension ClusterRouter {
    func send(_ commands: [RedisCommand], key: RedisArgument?, replies: @escaping ([RedisReply]) -> Void) {
        dispatch(ClusterRequest(commands, key: key, replies: replies), to: owner(of: key), isAsking: false)
    }

    private func dispatch(_ request: ClusterRequest, to node: ClusterPrimary?, isAsking: Bool) {
        guard !isClosed, let node else { return refusals.refuse(request.commands, with: .away, request.replies) }
        let commands = isAsking ? ["ASKING"] + request.commands : request.commands
        // What was sent on may wait for the connection to a node that is new to us; what was not fails at once.
        node.send(commands, isPatient: request.redirections.count > 0) { [weak self, host = node.endpoint.host] replies in
            let replies = isAsking ? Array(replies.dropFirst()) : replies
            guard let self, !isClosed else { return request.replies(replies) }
            take(replies, to: request, from: host)
        }
    }

    private func take(_ replies: [RedisReply], to request: ClusterRequest, from host: String) {
        let redirection = Redirection(in: replies, from: host)
        if case .moved(let slot, let endpoint)? = redirection {
            map.assign(slot, to: endpoint)
            isMapCorrected = true
            changed()
        } else if redirection == .clusterDown {
            topology.doubt()
        }
        switch request.redirections.next(after: redirection) {
        case .deliver: request.replies(replies)
        case .giveUp: request.fail(.tooManyRedirections)
        case .send(let endpoint, let isAsking): dispatch(request, to: node(at: endpoint), isAsking: isAsking)
        case .sendAgain(let pause):
            let timer = loop.schedule(after: pause) { [unowned self] in
                pauses[ObjectIdentifier(request)] = nil
                dispatch(request, to: owner(of: request.key), isAsking: false)
            }
            pauses[ObjectIdentifier(request)] = (request, timer)
        }
    }
}

/// Commands on their way to the node that carries them out.
private final class ClusterRequest {
    let commands: [RedisCommand]
    let key: RedisArgument?
    let replies: ([RedisReply]) -> Void
    var redirections = Redirections()

    init(_ commands: [RedisCommand], key: RedisArgument?, replies: @escaping ([RedisReply]) -> Void) {
        (self.commands, self.key, self.replies) = (commands, key, replies)
    }

    func fail(_ error: RedisError) { replies(commands.map { _ in .failure(error) }) }
}

/// One primary of a cluster: its link, and requests that were sent on to it before the link stood.
private final class ClusterPrimary {
    let endpoint: RedisEndpoint
    let link: Link
    private let maximumWaiting: Int
    private var waiting: [() -> Void] = []

    init(_ endpoint: RedisEndpoint, link: Link, maximumWaiting: Int) {
        (self.endpoint, self.link, self.maximumWaiting) = (endpoint, link, maximumWaiting)
    }

    /// Whether nobody would miss it.
    var isIdle: Bool { waiting.isEmpty && (link.connection?.unansweredCount ?? 0) == 0 }

    /// Sends commands at once, or as soon as the link stands. When the attempt at that fails they are `.away`.
    func send(_ commands: [RedisCommand], isPatient: Bool, replies: @escaping ([RedisReply]) -> Void) {
        guard link.connection == nil, isPatient, waiting.count < maximumWaiting else {
            return link.send(commands, replies: replies)
        }
        waiting.append { [unowned self] in link.send(commands, replies: replies) }
    }

    /// What waits is `.away`, and what is unanswered `.lost`.
    func close() {
        link.close()
        linkChanged()
    }

    /// The link stands, or an attempt has failed.
    func linkChanged() {
        let due = waiting
        waiting = []
        for send in due { send() }
    }
}

/// Where a cluster's nodes may be asked: those that were configured, and those that are there now.
private final class KnownNodes {
    private let seeds: [RedisEndpoint]
    var learned: [RedisEndpoint] = []

    init(seeds: [RedisEndpoint]) { self.seeds = seeds }

    var all: [RedisEndpoint] { learned + seeds.filter { !learned.contains($0) } }
}
