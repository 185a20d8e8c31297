import EventLoop
import OpenSSL
import Recording
import RouterForwarding
import Settings
import SharedPort
import Sockets

/// What every worker is made from, whichever thread it runs on.
struct WorkerEnvironment: Sendable {
    let instruments: Instruments
    /// How long its loop may rest between turns.
    let rest: Duration
    let handshakes: HandshakeLimits
    let tls: TLSContext
    let rtmp: SharedRTMP
    let sharedPort: SharedPortEnvironment
    let webRTC: SharedWebRTC
    let routerMetrics: RouterMetrics
    let publications: PublicationHost.Environment
    let site: PublicSite.Environment

    /// - Parameter forwarding: where workers tell of publications for routers that are asked; nil without such routers.
    init(
        _ configuration: StagedoorConfiguration, _ shared: SharedParts, membership: Membership,
        forwarding: MailboxSender<ForwardingEvent>?, recordings: Recordings?
    ) {
        (instruments, tls, rtmp, webRTC) = (shared.instruments, shared.tls, shared.rtmp, shared.webRTC)
        (sharedPort, rest) = (shared.sharedPort, configuration.workers.rest)
        handshakes = HandshakeLimits(configuration.tls, trust: shared.admission.trust)
        routerMetrics = shared.routerMetrics
        publications = PublicationHost.Environment(
            gate: shared.admission.gate, trust: shared.admission.trust, leases: membership.leases,
            replications: shared.replications, contract: shared.contract,
            records: shared.records, staticRouters: shared.staticRouters, replicas: configuration.forwarding.replicas,
            forwarding: forwarding, recordings: recordings, redundancy: shared.redundancy)
        site = PublicSite.Environment(configuration, shared, membership: membership)
    }
}

extension HandshakeLimits {
    init(_ settings: TLSSettings, trust: AddressTrust?) {
        self.init(perSecond: settings.handshakesPerSecond, timeout: settings.handshakeTimeout, trust: trust)
    }
}
