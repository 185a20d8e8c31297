import Admission
import EmbeddedRouter
import EventLoop
import GatewayLogging
import GatewayMetrics
import RTMPIngest
import RedundantIngest
import RouterForwarding
import SharedPort
import Sockets
import StageHub
import Transcoding
import WHIPIngest
import WebRTCTransport

/// One worker: a thread, its loop, and everything that lives on it. Confined: built and used on that thread.
final class Worker {
    let loop: EventLoop
    private let environment: WorkerEnvironment
    private let rtmp: RTMPIngest
    private let routers: RouterSocket
    private let publications: PublicationHost
    private var media: MediaPort?
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
        rtmp = try RTMPIngest(
            loop: loop, environment: environment.rtmp.environment, transcoder: transcoder, host: publications)
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

    /// Which protocol comes in there is known too late for the connection to be shared out: it is served here.
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
        guard let socket = sockets.media, let context = environment.webRTC.transport else { return }
        let port = try MediaPort(loop: loop, index: sockets.index, socket: socket, context: context)
        let subscribers = try environment.webRTC.embedded.map { try EmbeddedRouterWorker(port: port, context: $0) }
        port.sessionMakers[.publish] = WHIPSessionMaker(host: publications)
        port.sessionMakers[.subscribe] = subscribers
        (media, publications.subscribers) = (port, subscribers)
        if let socket = sockets.mediaTCP { try listen(on: socket, "media") { port.accept($0) } }
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
