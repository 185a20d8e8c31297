import AMF0
import Admission
import EventLoop
import GatewayMetrics
import MediaContract
import Monitoring
import RTMP
import Refusals
import Settings
import Sockets
import StageHub
import Transcoding
import Wire

@testable import RTMP
@testable import RTMPIngest

/// Grants what stands in its table, at once or when told.
final class TableAuthorizer: Authorizer {
    private let grants: Lock<[String: PublishGrant]>
    let asked = Lock<[String]>([])
    let isSilent = Lock(false)
    /// What it does not answer, and keeps.
    private let unanswered = Lock<[@Sendable (Result<PublishGrant, Refusal>) -> Void]>([])

    init(_ grants: [String: PublishGrant]) { self.grants = Lock(grants) }

    func authorize(_ request: PublishRequest, reply: @escaping @Sendable (Result<PublishGrant, Refusal>) -> Void) {
        guard case .streamKey(let key) = request.credential else { return }
        asked.withLock { $0.append(key.revealText()) }
        if isSilent.withLock({ $0 }) { return unanswered.withLock { $0.append(reply) } }
        let grant = grants.withLock { $0[key.revealText()] }
        reply(grant.map { .success($0) } ?? .failure(Refusal(.unknownStreamKey)))
    }
}

/// Leases in memory: one holder for each participant.
final class MemoryLeases: PublishLeases {
    private struct State {
        var generation: UInt64 = 0
        var holders: [String: (lease: PublishLease, holder: any LeaseHolder)] = [:]
        var claims = 0
    }

    private let state = Lock(State())

    func claimPublish(
        _ grant: PublishGrant, protocol: IngestProtocol, holder: any LeaseHolder, takeOver: Bool,
        reply: @escaping @Sendable (ClaimAnswer) -> Void
    ) {
        let (answer, displaced): (ClaimAnswer, (any LeaseHolder)?) = state.withLock { state in
            state.claims += 1
            let incumbent = state.holders[grant.participantID]?.holder
            if let incumbent, !takeOver { return (.held(by: incumbent), nil) }
            state.generation += 1
            let lease = PublishLease(
                participantID: grant.participantID, stageID: grant.stageID, stageSessionID: "st-1", generation: state.generation)
            state.holders[grant.participantID] = (lease, holder)
            return (.granted(lease), incumbent)
        }
        displaced?.end(.takenOver)
        reply(answer)
    }

    func release(_ lease: PublishLease) {
        state.withLock { state in
            guard state.holders[lease.participantID]?.lease.generation == lease.generation else { return }
            state.holders[lease.participantID] = nil
        }
    }

    var liveCount: Int { state.withLock { $0.holders.count } }
    func holder(of participantID: String) -> (any LeaseHolder)? { state.withLock { $0.holders[participantID]?.holder } }
}

/// Copies what reaches it.
final class RecordingSink: MediaSink {
    struct Packet: Equatable {
        var track: TrackID
        var sequenceNumber: Int64
        var timestamp: Int64
        var marker: Bool
        var payload: [UInt8]
    }

    private(set) var packets: [Packet] = []
    /// The packets that keyframes began with.
    private(set) var keyframeStarts: [Int] = []
    private(set) var formats: [TrackID: TrackFormat] = [:]
    private(set) var end: SessionEnd?
    var keyframeCount: Int { keyframeStarts.count }

    func forward(_ packets: UnsafeBufferPointer<MediaPacket>, of run: MediaRun) {
        if run.isKeyframe { keyframeStarts.append(self.packets.count) }
        for packet in packets {
            let head = (0..<Int(packet.headCount)).map { UInt8(truncatingIfNeeded: packet.head >> (8 * UInt32($0))) }
            self.packets.append(
                Packet(
                    track: run.track, sequenceNumber: packet.sequenceNumber, timestamp: packet.timestamp, marker: packet.marker,
                    payload: head + packet.payload))
        }
    }

    func formatChanged(_ track: TrackID, to format: TrackFormat) { formats[track] = format }
    func muteChanged(_ track: TrackID, isMuted: Bool) {}
    func restarted() {}
    func ended(_ reason: SessionEnd) { end = reason }

    func packets(of track: TrackID) -> [Packet] { packets.filter { $0.track == track } }
}

/// Puts a recording sink on every publication.
final class RecordingHost: PublishHost {
    private(set) var sinks: [RecordingSink] = []
    private(set) var publications: [Publication] = []
    /// Of the publishes that have ended, in the order of their beginnings.
    var ends: [SessionEnd] { sinks.compactMap(\.end) }
    var remembered: Refusal?
    var inspector: ContractSession?

    func rememberedRefusal(for grant: PublishGrant, _ request: PublishRequest) -> Refusal? { remembered }
    func rememberedWarning(for grant: PublishGrant, _ request: PublishRequest) -> String? { nil }
    func acceptedProfiles(for grant: PublishGrant) -> Set<UInt8>? { nil }
    func acceptedBitrate(for grant: PublishGrant) -> Int? { nil }
    func retryAfter(for grant: PublishGrant) -> Int? { nil }
    func makeInspector(
        for grant: PublishGrant, _ lease: PublishLease, _ request: PublishRequest
    ) -> ContractSession? { inspector }

    func publishBegan(_ publication: Publication, _ inspector: ContractSession?) {
        let sink = RecordingSink()
        sinks.append(sink)
        publications.append(publication)
        publication.add(sink)
    }
}

/// One worker's front end with everything around it in memory.
final class IngestBench {
    static let grant = PublishGrant(participantID: "p1", stageARN: "arn:stage/s1", stageID: "s1", credentialHash: "h1")

    let loop: EventLoop
    let leases = MemoryLeases()
    let authorizer: TableAuthorizer
    let gate: AdmissionGate
    let host = RecordingHost()
    let board = SessionBoard(metrics: MetricsRegistry())
    let pool: TranscodingPool
    let ingest: RTMPIngest

    init(
        _ settings: RTMPSettings = RTMPSettings(), limits: LimitSettings = LimitSettings(), trustedProxies: [IPNetwork] = [],
        keys: [String] = ["KEY"]
    ) throws {
        loop = try EventLoop()
        authorizer = TableAuthorizer(keys.reduce(into: [:]) { $0[$1] = Self.grant })
        gate = AdmissionGate(before: authorizer)
        pool = try TranscodingPool(threadCount: 1)
        let environment = RTMPIngestEnvironment(
            settings: settings,
            admission: ConnectionAdmission(
                maximumOpen: settings.maximumConnections, maximumCount: limits.unauthenticatedConnections,
                maximumPerAddress: limits.connectionsPerAddress),
            trustedProxies: trustedProxies, authorizer: gate, leases: leases, board: board, metrics: MetricsRegistry())
        ingest = try RTMPIngest(
            loop: loop, environment: environment, transcoder: try AudioTranscoder(loop: loop, pool: pool), host: host)
    }

    deinit { pool.stop() }

    @discardableResult
    func run(until isDone: () -> Bool, within limit: Duration = .seconds(30)) -> Bool { loop.run(until: isDone, within: limit) }

    func connect(from address: String = "192.0.2.1:40000") -> FakeEncoder { FakeEncoder(self, address) }
}

/// A transport in memory and the encoder behind it.
final class FakeEncoder: ConnectionTransport {
    var roundTrip: Duration?
    var remoteAddress: SocketAddress
    var isTLS = false
    var carriesMedia = false
    var pendingWriteByteCount = 0
    var canStartTLS = false
    private(set) var received: [UInt8] = []
    private(set) var isClosed = false
    private(set) var isClosing = false
    private(set) var isPaused = false
    private(set) var tlsBytes = 0
    private var unconsumed: [UInt8] = []
    private let bench: IngestBench
    private var redelivery: TimerWatch?
    private(set) weak var connection: RTMPConnection?
    private var writer = ChunkWriter()

    init(_ bench: IngestBench, _ address: String) {
        self.bench = bench
        remoteAddress = SocketAddress(address) ?? SocketAddress(.loopback, port: 1)
        connection = bench.ingest.accept(self, beginsWithProxyHeader: bench.ingest.isTrustedProxy(remoteAddress.ip))
    }

    func send(_ bytes: [UInt8]) {
        unconsumed += bytes
        deliver()
    }

    private func deliver() {
        while !isPaused, !isClosed, !unconsumed.isEmpty {
            let consumed = unconsumed.withUnsafeBytes { connection?.receive($0) ?? $0.count }
            unconsumed.removeFirst(consumed)
            if consumed == 0 { break }
        }
    }

    func drop() {
        isClosed = true
        connection?.transportClosed()
    }

    func write(_ bytes: [UInt8]) { received += bytes }
    func pauseReading() { isPaused = true }
    func resumeReading() {
        guard isPaused else { return }
        isPaused = false
        redelivery = bench.loop.schedule(after: .zero) { [unowned self] in deliver() }
    }
    func startTLS() -> Bool {
        tlsBytes = unconsumed.count
        isTLS = canStartTLS
        return canStartTLS
    }
    func close() { isClosed = true }
    func closeAfterFlush(lingering: Duration) { isClosing = true }

    // What an encoder says.

    func command(_ name: String, _ transactionID: Double = 0, _ object: AMF0Value = .null, _ arguments: [AMF0Value] = []) {
        message(20, [.string(name), .number(transactionID), object].amf0Bytes + arguments.amf0Bytes)
    }

    func message(_ type: UInt8, timestamp: UInt32 = 0, _ payload: [UInt8]) {
        var bytes: [UInt8] = []
        writer.write(type: type, timestamp: timestamp, streamID: 1, chunkStreamID: 4, payload: payload, into: &bytes)
        send(bytes)
    }

    func handshake() { send([3] + [UInt8](repeating: 0, count: 3_072)) }

    func connectAndPublish(_ key: String = "KEY", app: String = "app") {
        handshake()
        command("connect", 1, .object(["app": .string(app), "flashVer": "Test/1.0", "tcUrl": .string("rtmp://host/\(app)")]))
        command("createStream", 2)
        command("publish", 3, .null, [.string(key), "live"])
    }

    /// The text of all answers: names and codes can be looked for in it.
    var words: String { String(decoding: received.filter { (0x20...0x7E).contains($0) }, as: UTF8.self) }
    var hasStarted: Bool { words.contains("NetStream.Publish.Start") && words.contains("Publishing.") }
}
