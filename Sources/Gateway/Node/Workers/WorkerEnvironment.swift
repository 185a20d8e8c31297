import EventLoop
import OpenSSL
import RouterForwarding
import Settings
import Sockets

/// What every worker is made from, whichever thread it runs on.
struct WorkerEnvironment: Sendable {
    let instruments: Instruments
    let handshakesPerSecond: Int
    let trust: AddressTrust
    let tls: TLSContext
    let rtmp: SharedRTMP
    let webRTC: SharedWebRTC
    let routerMetrics: RouterMetrics
    let publications: PublicationHost.Environment
    let site: PublicSite.Environment

    /// - Parameter forwarding: where workers tell of publications for routers that are asked; nil without such routers.
    init(
        _ configuration: StagedoorConfiguration, _ shared: SharedParts, membership: Membership,
        forwarding: MailboxSender<ForwardingEvent>?
    ) {
        (instruments, tls, rtmp, webRTC) = (shared.instruments, shared.tls, shared.rtmp, shared.webRTC)
        (handshakesPerSecond, trust) = (configuration.tls.handshakesPerSecond, shared.admission.trust)
        routerMetrics = shared.routerMetrics
        publications = PublicationHost.Environment(
            gate: shared.admission.gate, trust: trust, leases: membership.leases, contract: shared.contract,
            records: shared.records, staticRouters: shared.staticRouters, replicas: configuration.forwarding.replicas,
            forwarding: forwarding)
        site = PublicSite.Environment(configuration, shared, membership: membership)
    }
}
