import Admission
import Cluster
import ClusterStore
import DataDirectory
import EventLoop
import Redis
import Refusals
import Settings
import Store
import Wire

/// The store as this node opens it, the keys it keeps in it, and quickstart's seed when asked for.
final class NodeStore: NodeService {
    let membership: Membership
    /// The node's name among others of its platform.
    let node: String
    let names: ResourceName
    let endpoints: StageEndpoints
    let authority: TokenAuthority
    let rules: TokenRules
    let quickstart: Quickstart?
    /// Told when anybody has changed the configuration.
    let observers = StateObservers()
    /// Woken when participant events have been written; set once the control loop reads it.
    let onEvents = Lock<MailboxSender<Void>?>(nil)

    /// What the seeding transaction finds or makes.
    private struct Seed {
        var authority: TokenAuthority
        var history: EndpointHistory
        var quickstart: Quickstart?
    }

    init(
        _ configuration: StagedoorConfiguration, endpoints: StageEndpoints, directory: borrowing DataDirectory,
        isQuickstart: Bool,
        sparing living: Set<LivingParticipant>
    ) throws {
        let names = ResourceName(region: configuration.platform.region, account: configuration.platform.account)
        var seed: Seed?
        let seeding: (inout StateTransaction) throws -> Void = { transaction in
            let now = EventLoop.wallNow()
            seed = Seed(
                authority: try TokenAuthority(in: &transaction, names: names),
                history: EndpointHistory(endpoints, in: &transaction, now: now),
                quickstart: isQuickstart ? Quickstart(in: &transaction, names: names, now: now) : nil)
        }
        let tell: @Sendable () -> Void = { [onEvents] in _ = onEvents.withLock { $0 }?.send(()) }
        if configuration.cluster.isConfigured {
            node = try NodeName.load(configuration.cluster.node, from: directory)
            membership = .member(
                try Self.join(
                    configuration, node: node, names: names, directory: directory.path, seeding: seeding, observers: observers,
                    onEvents: tell))
        } else {
            node = NodeName.ofOneAlone
            membership = .alone(
                try Self.open(
                    configuration, directory: directory.path, sparing: living, seeding: seeding, observers: observers,
                    onEvents: tell))
        }
        guard let seed else { throw StartupError.store }
        (self.names, self.endpoints, authority, quickstart) = (names, endpoints, seed.authority, seed.quickstart)
        rules = TokenRules(endpoints: seed.history, authority: seed.authority, settings: configuration.tokens)
    }

    private static func open(
        _ configuration: StagedoorConfiguration, directory: String, sparing living: Set<LivingParticipant>,
        seeding: (inout StateTransaction) throws -> Void, observers stateObservers: StateObservers,
        onEvents: @escaping @Sendable () -> Void
    ) throws -> EmbeddedContext {
        var observers = EmbeddedStore.Observers()
        observers.onChange = stateObservers.tell
        (observers.onEvents, observers.onNotice) = ({ _ in onEvents() }, { LocalHistory.log($0) })
        let store = try EmbeddedStore(
            directory: directory, webhooks: configuration.webhooks.keys.sorted(), retention: configuration.events.retention,
            sparing: living, seeding: seeding, observers: observers)
        return EmbeddedContext(store: store, leases: EmbeddedLeases(store: store, quotas: configuration.quotas))
    }

    private static func join(
        _ configuration: StagedoorConfiguration, node: String, names: ResourceName, directory: String,
        seeding: (inout StateTransaction) throws -> Void, observers stateObservers: StateObservers,
        onEvents: @escaping @Sendable () -> Void
    ) throws -> ClusterContext {
        let settings = try RedisStoreSettings(configuration, node: node)
        var observers = RedisStore.Observers()
        observers.onChange = stateObservers.tell
        (observers.onEvents, observers.onLocalEvents) = (onEvents, { _ in onEvents() })
        observers.onNotice = { ClusterNotices.log($0) }
        observers.onLocalNotice = { LocalHistory.log($0) }
        let store = try RedisStore(
            settings, directory: directory, webhooks: configuration.webhooks.keys.sorted(), seeding: seeding,
            observers: observers)
        let leases = ClusterLeases(
            settings: NodeSettings(nodeID: node, cluster: configuration.cluster, quotas: configuration.quotas),
            environment: ClusterLeases.Environment(store: store, names: names))
        stateObservers.add { _ in leases.stateChanged() }
        return ClusterContext(store: store, leases: leases, redis: settings.redis)
    }

    /// A publish and subscribe token for quickstart's participant, good for a day.
    func mintQuickstartToken() throws -> Secret? {
        guard let quickstart else { return nil }
        var request = TokenAuthority.Request(participantID: quickstart.tokenParticipantID)
        request.minutes = 24 * 60
        return try authority.mint(request, stageARN: quickstart.stage.arn, endpoints: endpoints, now: EventLoop.wallNow()).token
    }

    /// A token that watches the demo stage and can do nothing else, good for a day.
    func mintWatchToken() throws -> Secret? {
        guard let quickstart else { return nil }
        var request = TokenAuthority.Request()
        (request.allowsPublish, request.minutes) = (false, 24 * 60)
        return try authority.mint(request, stageARN: quickstart.stage.arn, endpoints: endpoints, now: EventLoop.wallNow()).token
    }

    func stop() { membership.close() }
}
