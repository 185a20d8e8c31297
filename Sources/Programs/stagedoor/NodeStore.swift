import Admission
import DataDirectory
import EventLoop
import GatewayConfiguration
import Refusals
import Store
import Wire

/// The store as this node opens it, with quickstart's seed when asked for.
final class NodeStore {
    let store: EmbeddedStore
    let names: ResourceName
    private(set) var quickstart: Quickstart?

    init(_ configuration: StagedoorConfiguration, directory: borrowing DataDirectory, isQuickstart: Bool) throws {
        let names = ResourceName(region: configuration.platform.region, account: configuration.platform.account)
        self.names = names
        var seed: Quickstart?
        store = try EmbeddedStore(directory: directory.path, webhooks: configuration.webhooks.keys.sorted()) { transaction in
            if isQuickstart { seed = Quickstart(in: &transaction, names: names, now: EventLoop.wallNow()) }
        }
        quickstart = seed
    }

    /// Stream keys from the store; tokens are refused until their verifier stands.
    func authorizer(leases: EmbeddedLeases) throws -> any Authorizer {
        StoreAuthorizer(store: store, reports: leases) { _, _, reply in reply(.failure(Refusal(.unknownStreamKey))) }
    }

    func close() { store.close() }
}
