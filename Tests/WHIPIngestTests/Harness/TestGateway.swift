import Admission
import EventLoop
import Foundation
import GatewayMetrics
import HTTP
import MediaContract
import Monitoring
import Refusals
import Settings
import Sockets
import StageHub
import Wire

@testable import WHIPIngest
@testable import WebRTCTransport

/// A gateway of N workers on loopback, each with a thread and a loop, and one endpoint on the first.
final class TestGateway: Sendable {
    enum Command: Sendable {
        case request(HTTPRequest, @Sendable (HTTPResponse) -> Void)
        case stop
    }

    let context: WHIPContext
    let leases = StubLeases()
    let reports = StubReports()
    let gate = AdmissionGate(before: StubAuthorizer())
    private let registry = MetricsRegistry()
    let board: SessionBoard
    var exposition: String { String(decoding: registry.exposition(), as: UTF8.self) }
    let address: SocketAddress
    let output = ForwardedMedia()
    /// Of the first worker's HTTP front, and of each worker's ICE-TCP listener.
    typealias Ports = (http: UInt16, tcp: [Int: UInt16])
    let ports = Lock<Ports>((0, [:]))
    func tcpAddress(of worker: Int) -> SocketAddress { SocketAddress(.loopback, port: ports.withLock { $0.tcp[worker] ?? 0 }) }
    var url: String { "http://\(address.ip):\(ports.withLock { $0.http })/whip" }
    private let threads: [WorkerThread]
    private let doors: [Lock<MailboxSender<Command>?>]

    /// - Parameter ip: where media and HTTP are served.
    /// - Parameter neighbours: other nodes, for one of a cluster.
    /// - Parameter predecessor: gets the requests that a process before this one would answer.
    init(
        workers: Int = 1, at ip: IPAddress = .loopback, neighbours: (any NeighbourDirectory)? = nil,
        predecessor: Lock<[HTTPRequest]>? = nil, configure: (inout TransportConfiguration) -> Void = { _ in }
    ) throws {
        let sockets = try BoundSocket.group(.udp, SocketAddress(ip, port: 0), count: workers)
        address = SocketAddress(ip, port: sockets[0].localAddress.port)
        var configuration = TransportConfiguration(advertisedAddresses: [address])
        configure(&configuration)
        let transport = try TransportContext(
            configuration: configuration, workerCount: workers, metrics: TransportMetrics(registry))
        board = SessionBoard(metrics: registry)
        let context = WHIPContext(
            transport: transport, authorizer: gate, leases: leases, reports: reports, board: board,
            metrics: WHIPMetrics(registry))
        self.context = context
        let doors = (0..<workers).map { _ in Lock<MailboxSender<Command>?>(nil) }
        self.doors = doors
        let (output, ports) = (output, ports)
        threads = try (0..<workers).map { index in
            let (socket, door) = (sockets[index], doors[index])
            return try WorkerThread.start(name: "worker-\(index)") {
                Self.run(index, socket, context, door, output, ports, neighbours, predecessor)
            }
        }
        guard eventually({ doors.allSatisfy { door in door.withLock { $0 != nil } } }) else {
            preconditionFailure("a worker did not begin")
        }
    }

    private static func run(
        _ index: Int, _ socket: BoundSocket, _ context: WHIPContext, _ door: Lock<MailboxSender<Command>?>,
        _ output: ForwardedMedia, _ ports: Lock<Ports>, _ neighbours: (any NeighbourDirectory)?,
        _ predecessor: Lock<[HTTPRequest]>?
    ) {
        do {
            let loop = try EventLoop()
            let port = try MediaPort(loop: loop, index: index, socket: socket, context: context.transport)
            let host = RecordingHost(worker: index, output)
            port.sessionMakers[.publish] = WHIPSessionMaker(host: host)
            let proxy = neighbours.map {
                SessionProxy(loop: loop, directory: $0, key: context.transport.configuration.sessionKey)
            }
            let endpoint = try WHIPEndpoint(
                loop: loop, context: context, host: host, servesPublishPage: true, proxy: proxy
            ) { request, respond in
                guard let predecessor else { return false }
                predecessor.withLock { $0.append(request) }
                respond(HTTPResponse(.noContent))
                return true
            }
            let mailbox = try Mailbox<Command>(loop: loop) { command in
                switch command {
                case .stop: loop.stop()
                case .request(let request, let respond):
                    if endpoint.handle(request, respond: { respond($0) }) { return }
                    if !endpoint.turnAwayStray(request, respond: { respond($0) }) { respond(HTTPResponse(.notFound)) }
                }
            }
            let front = try TestHTTPFront(loop: loop, endpoint: endpoint, ip: socket.localAddress.ip)
            let streams = try TCPListener(loop: loop, address: SocketAddress(.loopback, port: 0)) { port.accept($0) }
            ports.withLock {
                if index == 0 { $0.http = front.port }
                $0.tcp[index] = streams.localAddress.port
            }
            door.withLock { $0 = mailbox.sender }
            loop.run()
            withExtendedLifetime((port, endpoint, mailbox, front, streams)) {}
        } catch { preconditionFailure("\(error)") }
    }

    /// Sends a request to a worker's endpoint and waits for its answer.
    func request(
        _ method: HTTPMethod, _ path: String, headers: HTTPHeaders = [:], body: [UInt8] = [],
        from source: String = "192.0.2.1:1000", behind prefix: String = "", worker: Int = 0
    ) -> HTTPResponse {
        var request = Self.made(method, path, headers: headers, body: body, from: source)
        request.pathPrefix = prefix
        return answers(to: [request], worker: worker)[0]
    }

    /// A request as a front would hand it on.
    static func made(
        _ method: HTTPMethod, _ path: String, headers: HTTPHeaders, body: [UInt8] = [], from source: String
    ) -> HTTPRequest {
        guard let target = HTTPRequestTarget(path) else { preconditionFailure("a test's path") }
        return HTTPRequest(
            method: method, target: target, rawTarget: path, headers: headers, body: body, source: SocketAddress(source)!)
    }

    /// Sends requests without waiting in between: together they are too many a second on however slow a machine.
    func answers(to requests: [HTTPRequest], worker: Int = 0) -> [HTTPResponse] {
        let answers = Lock([HTTPResponse?](repeating: nil, count: requests.count))
        let semaphore = DispatchSemaphore(value: 0)
        for (index, request) in requests.enumerated() {
            doors[worker].withLock { $0 }?.send(
                .request(request) { response in
                    answers.withLock { $0[index] = response }
                    semaphore.signal()
                })
        }
        let end = DispatchTime.now() + 60
        for _ in requests { _ = semaphore.wait(timeout: end) }
        return answers.withLock { $0 }.map { $0 ?? HTTPResponse(.internalServerError) }
    }

    func post(
        _ offer: String, token: String, by userAgent: String = "", from source: String = "192.0.2.1:1000", worker: Int = 0
    ) -> HTTPResponse {
        request(
            .post, "/whip",
            headers: ["Content-Type": "application/sdp", "Authorization": "Bearer \(token)", "User-Agent": userAgent],
            body: Array(offer.utf8), from: source, worker: worker)
    }

    func stop() {
        for door in doors { door.withLock { $0 }?.send(.stop) }
        for thread in threads { thread.join() }
    }
}

/// What the sinks of all workers were handed, by participant.
final class ForwardedMedia: Sendable {
    struct Stream: Sendable {
        /// Sequence numbers by layer.
        var layers: [UInt8: [Int64]] = [:]
        /// Of the first, or only, layer.
        var video: [Int64] { layers[0] ?? [] }
        var audio: [Int64] = []
        var keyframes = 0
        /// The first packet of the last keyframe.
        var keyframeStart: Int64?
        var restarts = 0
        var muted: Set<TrackID> = []
        var ended: SessionEnd?
        var worker: Int
        var lastPayload: [UInt8] = []
        var counters: PublishCounters?
    }

    private let streams = Lock<[String: Stream]>([:])

    subscript(participant: String) -> Stream? { streams.withLock { $0[participant] } }
    var all: [String: Stream] { streams.withLock { $0 } }

    func update(_ participant: String, worker: Int, _ body: (inout Stream) -> Void) {
        streams.withLock { streams in
            var stream = streams[participant] ?? Stream(worker: worker)
            body(&stream)
            streams[participant] = stream
        }
    }
}

final class RecordingHost: PublishHost {
    private let worker: Int
    private let output: ForwardedMedia

    init(worker: Int, _ output: ForwardedMedia) { (self.worker, self.output) = (worker, output) }

    func rememberedRefusal(for grant: PublishGrant, _ request: PublishRequest) -> Refusal? { nil }
    /// A participant whose last publish was warned of something.
    static let (warned, warning) = ("warned", "keyframe every 8.3 s")
    func rememberedWarning(for grant: PublishGrant, _ request: PublishRequest) -> String? {
        grant.participantID == Self.warned ? Self.warning : nil
    }
    func acceptedProfiles(for grant: PublishGrant) -> Set<UInt8>? { ContractSettings().offeredProfiles }
    func acceptedBitrate(for grant: PublishGrant) -> Int? { ContractSettings().offeredBitrate }
    func retryAfter(for grant: PublishGrant) -> Int? { nil }

    func makeInspector(for grant: PublishGrant, _ lease: PublishLease, _ request: PublishRequest) -> ContractSession? {
        let publisher = ContractPublisher(
            credential: grant.credentialHash, source: request.source.ip, product: request.userAgent)
        return ContractSession(context: ContractContext(), ingest: .whip, publisher: publisher)
    }

    func publishBegan(_ publication: Publication, _ inspector: ContractSession?) {
        let participant = publication.grant.participantID
        output.update(participant, worker: worker) { $0.counters = publication.counters }
        publication.add(RecordingSink(participant, worker: worker, output))
    }
}

final class RecordingSink: MediaSink {
    private let participant: String
    private let worker: Int
    private let output: ForwardedMedia

    init(_ participant: String, worker: Int, _ output: ForwardedMedia) {
        (self.participant, self.worker, self.output) = (participant, worker, output)
        output.update(participant, worker: worker) { $0.worker = worker }
    }

    func forward(_ packets: UnsafeBufferPointer<MediaPacket>, of run: MediaRun) {
        output.update(participant, worker: worker) { stream in
            if run.isKeyframe { (stream.keyframes, stream.keyframeStart) = (stream.keyframes + 1, packets.first?.sequenceNumber) }
            for packet in packets {
                if run.track.kind == .video {
                    stream.layers[run.track.layer, default: []].append(packet.sequenceNumber)
                } else {
                    stream.audio.append(packet.sequenceNumber)
                }
                stream.lastPayload = Array(packet.payload)
            }
        }
    }

    func formatChanged(_ track: TrackID, to format: TrackFormat) {}
    func muteChanged(_ track: TrackID, isMuted: Bool) {
        output.update(participant, worker: worker) {
            if isMuted { $0.muted.insert(track) } else { $0.muted.remove(track) }
        }
    }
    func restarted() { output.update(participant, worker: worker) { $0.restarts += 1 } }
    func ended(_ reason: SessionEnd) { output.update(participant, worker: worker) { $0.ended = reason } }
}

/// Waits for a condition, at most two minutes; returns what it says at the end.
func eventually(within limit: Double = 120, _ condition: () -> Bool) -> Bool {
    let end = Date().addingTimeInterval(limit)
    while Date() < end {
        if condition() { return true }
        usleep(1_000)
    }
    return condition()
}
