import Admission
import EmbeddedRouter
import EventLoop
import GatewayLogging
import GatewayMetrics
import MediaContract
import Monitoring
import Recording
import RedundantIngest
import Refusals
import Replication
import RouterForwarding
import Settings
import Sockets
import StageHub
import Store
import Wire

/// Connects each publication of one worker with whoever wants it: the contract, reports, recordings, viewers, routers, further
/// stages. Confined to the worker.
final class PublicationHost: PublishHost {
    /// The parts of the node that it works with.
    struct Environment: Sendable {
        let gate: AdmissionGate
        let trust: AddressTrust
        let leases: any LeaseControl
        let replications: ReplicationBook
        let contract: SharedContract
        let records: SharedRecords
        let staticRouters: [StaticRouter]
        let replicas: Int
        /// Where routers that are asked hear of publications; nil without such routers.
        let forwarding: MailboxSender<ForwardingEvent>?
        /// Nil where nothing can be recorded.
        let recordings: Recordings?
        let redundancy: RedundancyDesk
    }

    private let environment: Environment
    private let loop: EventLoop
    private let socket: RouterSocket
    private let forwarder: RouterForwarder?
    private var replicator: Replicator?
    /// This worker's part of the embedded router; nil without it.
    var subscribers: EmbeddedRouterWorker?
    /// Where two encoders of this worker are one participant.
    private(set) var redundancy: RedundancyWorker?

    /// - Parameter index: the worker's.
    init(_ environment: Environment, loop: EventLoop, index: Int, socket: RouterSocket) throws {
        (self.environment, self.loop, self.socket) = (environment, loop, socket)
        forwarder = try environment.forwarding.map {
            try RouterForwarder(socket: socket, replicas: environment.replicas, control: $0)
        }
        redundancy = try RedundancyWorker(loop: loop, index: index, desk: environment.redundancy) { [unowned self] in
            environment.records.board.follow($0)
            showAndReplicate($0)
        }
        replicator = try Replicator(loop: loop, book: environment.replications) { [unowned self] in
            record($0)
            show($0)
        }
    }

    // What encoders were told is looked up by who they are and what they offer: who has changed a setting is heard anew.

    func rememberedRefusal(for grant: PublishGrant, _ request: PublishRequest) -> Refusal? {
        environment.contract.context.rememberedRefusal(for: ContractPublisher(grant, request), at: loop.now)
    }

    func rememberedWarning(for grant: PublishGrant, _ request: PublishRequest) -> String? {
        environment.contract.context.rememberedWarning(for: ContractPublisher(grant, request), at: loop.now)
    }

    func acceptedProfiles(for grant: PublishGrant) -> Set<UInt8>? {
        environment.contract.context.rules(forStageTags: grant.stageTags).offeredProfiles
    }

    func acceptedBitrate(for grant: PublishGrant) -> Int? {
        environment.contract.context.rules(forStageTags: grant.stageTags).offeredBitrate
    }

    func retryAfter(for grant: PublishGrant) -> Int? {
        environment.contract.context.retryAfter(credential: grant.credentialHash, at: loop.now)
    }

    func makeInspector(for grant: PublishGrant, _ lease: PublishLease, _ request: PublishRequest) -> ContractSession? {
        ContractSession(
            context: environment.contract.context, ingest: request.ingestProtocol == .whip ? .whip : .rtmp,
            publisher: ContractPublisher(grant, request)
        ) { [environment] warning in
            environment.contract.warnings.note(warning, grant)
            environment.leases.publishWarned(lease, rule: warning.fault.rule.rawValue, sentence: warning.sentence)
            environment.records.board.note(lease, warnedBy: warning.fault.rule.rawValue, warning.sentence)
        }
    }

    func publishBegan(_ publication: Publication, _ inspector: ContractSession?) {
        count(publication)
        record(publication, inspector?.standing)
        // One of two encoders is shown as part of their joined publication alone.
        if redundancy?.publishBegan(publication) != true { showAndReplicate(publication) }
    }

    /// The worker stops.
    func stop() { replicator?.stop() }

    /// Counts a connection that publishes until it ends, whatever the stage sees of it.
    private func count(_ publication: Publication) {
        environment.gate.publishBegan()
        let sessions = environment.records.gauges[publication.ingestProtocol]
        sessions.increment()
        let source = publication.origin?.source.ip
        if let source { environment.trust.publishBegan(source, at: loop.now) }
        publication.add(
            observer: PublishEndWatch { [gate = environment.gate, trust = environment.trust] in
                gate.publishEnded()
                sessions.decrement()
                if let source { trust.publishEnded(source, at: EventLoop.monotonicNow()) }
            })
    }

    /// Puts a publication on the board and into recordings, whatever its stage sees of it.
    private func record(_ publication: Publication, _ standing: ContractStanding? = nil) {
        environment.records.board.follow(publication, standing)
        environment.recordings?.publishBegan(publication)
    }

    /// Lets its own stage see a publication, and the stages to which it is replicated.
    private func showAndReplicate(_ publication: Publication) {
        show(publication)
        replicator?.publishBegan(publication)
    }

    /// Lets the stage see a publication, its own or a replica: its viewers and its routers.
    private func show(_ publication: Publication) {
        environment.records.stages.attach(publication)
        subscribers?.publishBegan(publication)
        forwarder?.attach(publication)
        for router in environment.staticRouters where !router.attach(publication, socket: socket) {
            Log.event(.warning, "router_ports_exhausted", ["participant": .string(publication.grant.participantID)])
        }
    }
}

extension ContractPublisher {
    init(_ grant: PublishGrant, _ request: PublishRequest) {
        let (agent, settings) = (request.userAgent, request.settingsDigest)
        self.init(
            credential: grant.credentialHash, source: request.source.ip,
            product: settings.isEmpty ? agent : "\(agent) \(settings)", stageTags: grant.stageTags)
    }
}

/// Notices the end alone, whichever protocol the publication came by.
private final class PublishEndWatch: PublicationObserver {
    private let onEnd: () -> Void

    init(_ onEnd: @escaping () -> Void) { self.onEnd = onEnd }

    func ended(_ reason: SessionEnd) { onEnd() }
}
