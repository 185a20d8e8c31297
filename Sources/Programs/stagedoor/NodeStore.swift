import Admission
import DataDirectory
import EventLoop
import GatewayConfiguration
import Refusals
import Store
import Wire

/// The store as this node opens it, the keys it keeps in it, and quickstart's seed when asked for.
final class NodeStore {
    let store: EmbeddedStore
    let names: ResourceName
    let endpoints: StageEndpoints
    let authority: TokenAuthority
    let rules: TokenRules
    let quickstart: Quickstart?
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
        let onEvents = onEvents
        let tell: @Sendable ([ParticipantEvent]) -> Void = { _ in _ = onEvents.withLock { $0 }?.send(()) }
        let seeding: (inout StateTransaction) throws -> Void = { transaction in
            let now = EventLoop.wallNow()
            seed = Seed(
                authority: try TokenAuthority(in: &transaction, names: names),
                history: EndpointHistory(endpoints, in: &transaction, now: now),
                quickstart: isQuickstart ? Quickstart(in: &transaction, names: names, now: now) : nil)
        }
        store = try EmbeddedStore(
            directory: directory.path, webhooks: configuration.webhooks.keys.sorted(), retention: configuration.events.retention,
            sparing: living, seeding: seeding, onEvents: tell)
        guard let seed else { throw StartupError.store }
        (self.names, self.endpoints, authority, quickstart) = (names, endpoints, seed.authority, seed.quickstart)
        rules = TokenRules(endpoints: seed.history, authority: seed.authority)
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

    func close() { store.close() }
}
