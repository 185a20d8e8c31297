import Admission
import ControlPlane
import GatewayMetrics
import Monitoring
import Settings
import Sockets
import Store

/// Who may publish here and who may watch, for every thread.
struct SharedAdmission: Sendable {
    let gate: AdmissionGate
    /// The gate, with what it decides counted: what encoders' credentials are shown to.
    let authorizer: any Authorizer
    /// Where another authority is asked; nil without `authorize.url`.
    let hooked: HookedAuthorizer?
    let tokens: TokenVerifier
    let trust = AddressTrust()
    let outOfReach: StagesOutOfReach

    /// - Throws: when the threads that verify tokens cannot be had.
    init(_ configuration: StagedoorConfiguration, _ store: NodeStore, metrics: MetricsRegistry) throws {
        let (gatewayStore, leases) = (store.membership.store, store.membership.leases)
        tokens = try TokenVerifier(
            store: gatewayStore, authority: store.authority, rules: store.rules, limits: configuration.limits,
            workers: configuration.workers)
        let authorizer = StoreAuthorizer(store: gatewayStore, reports: leases, tokens: tokens.authorizer(reports: leases))
        hooked = configuration.authorize.url.isEmpty ? nil : HookedAuthorizer(behind: authorizer)
        let judge: any Authorizer = if let hooked { hooked } else { authorizer }
        let outOfReach = StagesOutOfReach(store: gatewayStore, replicas: configuration.forwarding.replicas)
        self.outOfReach = outOfReach
        gate = AdmissionGate(before: judge) { outOfReach.contains($0) }
        gate.requiresTLS = configuration.rtmp.requiresTLS
        self.authorizer = MeteredAuthorizer(gate, metrics: metrics)
    }
}

/// Its threads end with the node: OpenSSL cleans up when the process exits, under whoever still looks at a signature then.
extension TokenVerifier: NodeService {
    func stop() { close() }
}
