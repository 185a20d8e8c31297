import Admission
import Cluster
import ControlPlane
import EmbeddedRouter
import EventLoop
import GatewayMetrics
import HTTPServer
import Monitoring
import Settings
import Sockets
import Store
import WHIPIngest

/// Who may publish here and who may watch, for every thread.
struct SharedAdmission: Sendable {
    let gate: AdmissionGate
    /// The gate, with what it decides counted: whom encoders' credentials are shown to.
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

/// Ends sessions without a lease when their token is taken away: those that watch, and those that wait.
struct Revocations: Sendable {
    private let webRTC: SharedWebRTC
    private let tokens: TokenVerifier
    private let cluster: ClusterContext?

    init(_ shared: SharedParts, _ membership: Membership) {
        (webRTC, tokens) = (shared.webRTC, shared.admission.tokens)
        cluster = if case .member(let cluster) = membership { cluster } else { nil }
    }

    /// Something was made or deleted here.
    func follow() {
        webRTC.whip?.endPending(refusedBy: tokens)
        webRTC.embedded?.endViewers(refusedBy: tokens)
    }

    /// What is taken away at another node, or while a token is just being verified here, is noticed by asking again: each second,
    /// and in between where somebody waits or watches. An idle process sleeps until then.
    func watch(on loop: EventLoop) -> [Watch] {
        let between = loop.schedule(after: Self.interval, tolerance: Self.interval) { [self] in follow() }
        let eachSecond = loop.schedule(after: .seconds(1), repeating: .seconds(1), tolerance: .seconds(1)) { [self] in
            follow()
            if isAnybodyThere { between.rearm(after: Self.interval) }
        }
        return [eachSecond, between]
    }

    private var isAnybodyThere: Bool {
        webRTC.whip.map { $0.directory.pendingCount > 0 } == true || webRTC.embedded?.viewers.isEmpty == false
    }

    /// Whether somebody watches as that participant, here or at another node.
    func isWatching(_ participant: StageParticipant) -> Bool {
        let isHere = webRTC.embedded?.viewers.contains {
            $0.participantID == participant.participantID && $0.stageARN == participant.stageARN
        }
        let name = "\(ResourceName.identifier(inARN: participant.stageARN))/\(participant.participantID)"
        return isHere == true || cluster?.leases.nodes.contains { $0.viewers.contains(name) } == true
    }

    private static let interval = Duration.milliseconds(500)
}
