import Admission
import EventLoop
import GatewayMetrics
import MediaContract
import StageHub
import StageMetrics
import Synchronization
import Wire

@testable import Monitoring

/// A board, a sampler and publications, on a clock that the test turns.
final class MonitoringBench {
    let metrics = MetricsRegistry()
    let board: SessionBoard
    let sampler: SessionSampler
    /// What minutes that are over had.
    var kept: [MetricSample] { keeper.kept }
    private let keeper = Keeper()
    private let wall: Clock
    private(set) var now = MonotonicTime(nanoseconds: 1_000_000_000)
    var wallNow: WallTime { wall.now }

    private final class Keeper {
        var kept: [MetricSample] = []
    }

    final class Clock: Sendable {
        let nanoseconds = Atomic<Int64>(1_790_000_040_000_000_000)
        var now: WallTime { WallTime(nanosecondsSince1970: nanoseconds.load(ordering: .relaxed)) }
    }

    init() throws {
        let wall = Clock()
        self.wall = wall
        board = SessionBoard(metrics: metrics, wallNow: { wall.now })
        sampler = SessionSampler(
            loop: try EventLoop(), board: board, metrics: metrics, keep: { [keeper] in keeper.kept += $0 },
            wallNow: { wall.now })
    }

    func pass(_ duration: Duration) {
        wall.nanoseconds.add(duration.nanoseconds, ordering: .relaxed)
        now = now + duration
    }

    /// One second, with media for every publication.
    func second(_ media: () -> Void) {
        media()
        pass(.seconds(1))
        sampler.look(at: now)
    }

    func publish(
        _ participant: String = "p1", stage: String = "abc", session: String? = nil, by ingest: IngestProtocol = .rtmp,
        as redundancy: Redundancy? = nil, contract: ContractStanding? = nil, isStarted: Bool = true
    ) throws -> Publication {
        var grant = PublishGrant(
            participantID: participant, stageARN: "arn:aws:ivs:us-east-1:0:stage/\(stage)", stageID: stage, credentialHash: "h")
        grant.redundancy = redundancy
        let lease = PublishLease(participantID: participant, stageID: stage, stageSessionID: "st-1", generation: 1)
        let origin = PublishOrigin(
            sessionID: session ?? "s-\(participant)", source: Self.source, userAgent: "FMLE/3.0",
            steps: [PublishStep("accepted", at: wall.now)])
        pass(.milliseconds(20))
        let publication = Publication(
            grant: grant, lease: lease, ingestProtocol: ingest, origin: origin, timeline: Timeline())
        board.follow(publication, contract)
        if isStarted { publication.started() }
        return publication
    }

    static let source = SocketAddress(IPAddress("192.0.2.1")!, port: 5_000)
    var exposition: String { String(decoding: metrics.exposition(), as: UTF8.self) }
}
