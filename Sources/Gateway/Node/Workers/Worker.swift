import Admission
import EmbeddedRouter
import EventLoop
import GatewayLogging
import GatewayMetrics
import HTTP
import HTTPServer
import OpenSSL
import RTMPIngest
import Recording
import RedundantIngest
import RouterForwarding
import Settings
import SharedPort
import Sockets
import StageHub
import Transcoding
import WHIPIngest
import WebRTCTransport

/// The sockets that one worker reads.
struct WorkerSockets: Sendable {
    var index: Int
    var rtmp: BoundSocket?
    var http: BoundSocket?
    var https: BoundSocket?
    var shared: BoundSocket?
    var media: BoundSocket?
    var mediaTCP: BoundSocket?

    init(index: Int, _ listeners: Listeners) {
        self.index = index
        rtmp = listeners.rtmp.isEmpty ? nil : listeners.rtmp[index]
        http = listeners.publicHTTP.isEmpty ? nil : listeners.publicHTTP[index]
        https = listeners.publicHTTPS.isEmpty ? nil : listeners.publicHTTPS[index]
        shared = listeners.shared.isEmpty ? nil : listeners.shared[index]
        media = index < listeners.media.count ? listeners.media[index] : nil
        mediaTCP = listeners.mediaTCP.isEmpty ? nil : listeners.mediaTCP[index]
    }
}

/// Orders to a worker from the control loop.
enum WorkerOrder: Sendable {
    /// Ends every session and stops the loop.
    case stop
    /// Asks encoders that understand it to connect elsewhere (a drain has begun).
    case requestReconnect
    /// Ends as many sessions as the budget allows, oldest first (a drain's deadline has come).
    case close(CloseBudget)
    /// New TLS connections get this context.
    case replaceTLS(TLSContext)
    /// Leave new connections to the process that takes our place.
    case suspendAccepting(done: @Sendable () -> Void)
    /// That process reads the media port, and passes on over this descriptor what is for our sessions.
    case suspendReading(OwnedDescriptor, done: @Sendable () -> Void)
    /// Accept and read (again).
    case resume
    /// Datagrams of nobody we know are for the process before us; nil when that has ended.
    case passForeign(OwnedDescriptor?)
    /// Answer a request that the process after us got for a session of ours.
    case answer(HTTPRequest, reply: @Sendable (HTTPResponse) -> Void)
}

/// One worker: a thread, its loop, and everything that lives on it. Confined: built and used on that thread.
final class Worker {
    let loop: EventLoop
    private let environment: WorkerEnvironment
    private let rtmp: RTMPIngest
    private let routers: RouterSocket
    private let publications: PublicationHost
    private var media: MediaPort?
    private var whip: WHIPSessionMaker?
    private var site: PublicSite?
    private var shared: SharedPort?
    private let loopMetrics: LoopMetrics
    private var listeners: [TCPListener] = []
    private var rtmpInbox: ConnectionInbox?
    private var orders: Mailbox<WorkerOrder>?

    /// - Parameter isSuspended: whether another process accepts and reads until `.resume`.
    init(_ sockets: WorkerSockets, _ environment: WorkerEnvironment, isSuspended: Bool) throws {
        self.environment = environment
        loop = try EventLoop()
        loop.longestRest = environment.rest
        routers = try RouterSocket(loop: loop, metrics: environment.routerMetrics)
        publications = try PublicationHost(environment.publications, loop: loop, index: sockets.index, socket: routers)
        let transcoder = try AudioTranscoder(loop: loop, pool: environment.rtmp.transcoding, settings: environment.rtmp.opus)
        rtmp = try RTMPIngest(loop: loop, environment: environment.rtmp.environment, transcoder: transcoder)
        rtmp.host = publications
        rtmp.tls = environment.tls
        let name = "worker-\(sockets.index)"
        loopMetrics = environment.instruments.watch(loop, name: name)
        orders = try Mailbox(loop: loop) { [unowned self] in carryOut($0) }
        HandshakeScheduler.of(loop).limits = environment.handshakes
        HandshakeMetrics.watch(loop, name: name, in: environment.instruments.metrics)
        try openMedia(sockets)
        site = try PublicSite(
            loop: loop, sockets: sockets, environment.site, host: publications, metrics: environment.instruments.metrics)
        if let socket = sockets.rtmp { try openRTMP(socket, worker: sockets.index) }
        if let socket = sockets.shared { try openShared(socket, worker: sockets.index) }
        let shares = environment.rtmp.shares
        environment.instruments.metrics.reading("stagedoor_rtmp_connections", "RTMP connections that are open.", ["loop": name]) {
            Double(shares.count(ofWorker: sockets.index))
        }
        guard isSuspended else { return }
        suspendAccepting()
        media?.suspend()
    }

    /// RTMP connections are shared out: each keeps its worker as busy as the next one.
    private func openRTMP(_ socket: BoundSocket, worker index: Int) throws {
        let inbox = try ConnectionInbox(loop: loop, worker: index, of: environment.rtmp.shares) { [unowned self] in
            rtmp.accept($0)
        }
        try listen(on: socket, "rtmp") { inbox.accept($0) }
        rtmpInbox = inbox
    }

    /// What comes in there is known too late to be shared out, and is served here.
    private func openShared(_ socket: BoundSocket, worker index: Int) throws {
        let port = SharedPort(loop: loop, tls: environment.tls, environment: environment.sharedPort)
        port.servers[.https] = site.map { site in { site.adopt($0) } }
        port.servers[.rtmps] = { [unowned self] in
            environment.rtmp.shares.count($0, at: index)
            rtmp.adopt($0)
        }
        port.servers[.ice] = media.map { media in { media.adopt($0) } }
        try listen(on: socket, "shared") { port.accept($0) }
        shared = port
    }

    private func listen(on socket: BoundSocket, _ name: String, _ accept: @escaping (AcceptedConnection) -> Void) throws {
        let listener = try TCPListener(loop: loop, socket: socket, onAccept: accept)
        listener.onExhausted = { Log.cannotAccept(name, $0) }
        listeners.append(listener)
    }

    private func suspendAccepting() {
        for listener in listeners { listener.suspend() }
        site?.suspend()
    }

    private func resume() {
        media?.resume()
        for listener in listeners { listener.resume() }
        site?.resume()
    }

    private func openMedia(_ sockets: WorkerSockets) throws {
        if let socket = sockets.media, let context = environment.webRTC.transport {
            let port = try MediaPort(loop: loop, index: sockets.index, socket: socket, context: context)
            whip = WHIPSessionMaker(port: port)
            whip?.host = publications
            media = port
            publications.subscribers = try environment.webRTC.embedded.map { try EmbeddedRouterWorker(port: port, context: $0) }
            if let socket = sockets.mediaTCP { try listen(on: socket, "media") { port.accept($0) } }
        }
    }

    var sender: MailboxSender<WorkerOrder>? { orders?.sender }

    func run() { loop.run() }

    private func carryOut(_ order: WorkerOrder) {
        switch order {
        case .requestReconnect: rtmp.requestReconnect()
        case .replaceTLS(let context):
            rtmp.tls = context
            shared?.tls = context
            site?.replaceTLS(context)
        case .suspendAccepting(let done):
            suspendAccepting()
            done()
        case .suspendReading(let link, let done):
            media?.suspend(readingFrom: link)
            done()
        case .resume: resume()
        case .passForeign(let link): media?.passForeign(over: link)
        case .answer(let request, let reply): site?.answer(request, reply)
        case .close(let budget):
            budget.spend { allowed in
                let count = rtmp.endOldest(allowed)
                return count + (media?.endOldest(allowed - count) ?? 0)
            }
        case .stop: stop()
        }
    }

    private func stop() {
        for listener in listeners { listener.stop() }
        rtmpInbox?.close()
        shared?.stop()
        rtmp.stop()
        publications.redundancy?.stop()
        media?.stop()
        publications.stop()
        site?.stop()
        loop.stop()
    }
}

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
