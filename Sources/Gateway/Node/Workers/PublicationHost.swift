import Admission
import EmbeddedRouter
import EventLoop
import GatewayConfiguration
import GatewayLogging
import GatewayMetrics
import MediaContract
import Monitoring
import RTMPIngest
import Refusals
import RouterForwarding
import StageHub
import Sockets
import Store
import Wire

/// Connects each publication of one worker with its routers, the contract and the reports. Confined to the worker.
final class PublicationHost: RTMPPublishHost {
    let services: NodeServices
    let loop: EventLoop
    private let socket: RouterSocket
    private let forwarder: RouterForwarder?
    /// This worker's part of the embedded router; nil without it.
    var subscribers: EmbeddedRouterWorker?

    init(services: NodeServices, loop: EventLoop, socket: RouterSocket) throws {
        (self.services, self.loop, self.socket) = (services, loop, socket)
        let replicas = services.configuration.forwarding.replicas
        forwarder = try services.forwarding.map { try RouterForwarder(socket: socket, replicas: replicas, control: $0) }
    }

    func rememberedRefusal(for grant: PublishGrant, _ request: PublishRequest) -> Refusal? {
        services.contract.rememberedRefusal(for: ContractPublisher(grant, request), at: loop.now)
    }

    func makeInspector(
        for grant: PublishGrant, _ lease: PublishLease, _ request: PublishRequest
    ) -> (any MediaInspector)? {
        makeContract(for: grant, lease, ContractPublisher(grant, request), ingest: .rtmp)
    }

    /// The contract's eye on one publish of either protocol.
    func makeContract(
        for grant: PublishGrant, _ lease: PublishLease, _ publisher: ContractPublisher, ingest: ContractMonitor.Ingest
    ) -> ContractSession {
        let session = ContractSession(desk: services.contract, ingest: ingest, publisher: publisher)
        session.onWarning = { [warnings = services.contractWarnings, leases = services.leases, board = services.board] warning in
            warnings.note(warning, grant)
            leases.publishWarned(lease, rule: warning.fault.rule.rawValue, sentence: warning.sentence)
            board.note(lease, warnedBy: warning.fault.rule.rawValue, warning.sentence)
        }
        return session
    }

    func publishBegan(_ publication: Publication) {
        services.gate.publishBegan()
        let sessions = services.sessions[publication.ingestProtocol]
        sessions.increment()
        let source = publication.origin?.source.ip
        if let source { services.trust.publishBegan(source, at: loop.now) }
        publication.add(
            PublishEndWatch { [gate = services.gate, trust = services.trust] in
                gate.publishEnded()
                sessions.decrement()
                if let source { trust.publishEnded(source, at: EventLoop.monotonicNow()) }
            })
        services.board.follow(publication)
        services.stages.attach(publication)
        subscribers?.publishBegan(publication)
        forwarder?.attach(publication)
        for router in services.staticRouters where router.attach(publication, socket: socket) == nil {
            Log.event(.warning, "router_ports_exhausted", ["participant": .string(publication.grant.participantID)])
        }
    }

    func publishEnded(_ publication: Publication, _ reason: PublicationEnd) {}
}

extension ContractPublisher {
    /// - Parameter offer: a digest of WHIP's offer.
    init(_ grant: PublishGrant, _ request: PublishRequest, offer: String = "") {
        self.init(
            credential: grant.credentialHash, source: request.source.ip,
            product: offer.isEmpty ? request.userAgent : "\(request.userAgent) \(offer)", stageTags: grant.stageTags)
    }
}

/// A sink that takes no media and only notices the end, whichever protocol the publication came by.
private final class PublishEndWatch: MediaSink {
    private let onEnd: () -> Void

    init(_ onEnd: @escaping () -> Void) { self.onEnd = onEnd }

    func forward(_ packets: UnsafeBufferPointer<MediaPacket>, of run: MediaRun) {}
    func formatChanged(_ track: TrackID, to format: TrackFormat) {}
    func muteChanged(_ track: TrackID, isMuted: Bool) {}
    func restarted() {}
    func ended(_ reason: PublicationEnd) { onEnd() }
}
