import Admission
import EventLoop
import GatewayMetrics
import ObjectStorage
import StageHub
import TestSupport
import Testing
import Wire

@testable import Recording

/// A node of a cluster whose store is silent: its register knows of no end of what waits for that.
private final class ClusterDirector: RecordingDirector, RecordingRegister {
    let node = "a"
    let told = Lock<[RecordingSummary]>([])
    private let left: RecordingHeader
    private let plan: RecordingPlan

    init(_ left: RecordingHeader, _ plan: RecordingPlan) { (self.left, self.plan) = (left, plan) }

    var register: (any RecordingRegister)? { self }

    func plan(for participant: RecordedParticipant, isReplica: Bool) -> RecordingPlan? { plan }
    func put(_ upload: Upload) {}
    func documents(of recording: RecordingSummary) -> [StoredObject] { [] }
    func changed(_ recording: RecordingSummary) { told.withLock { $0.append(recording) } }

    func write(_ line: RegisterLine) {}
    func read(
        _: RecordedParticipant, prefix: String?, then: @escaping @Sendable (Result<RegisterPage?, any Error>) -> Void
    ) {
        let line = RegisterLine(.begins, of: left, [.began(left), .paused(since: EventLoop.wallNow())])
        then(.success(RegisterPage(node: node, isClosed: false, texts: [line.text])))
    }
}

@Suite("Recordings of a participant who comes again")
struct ReturningTests {
    private static let began = WallTime(secondsSince1970: 1_704_110_455)
    private static let participant = RecordedParticipant(stageID: "stage", stageSessionID: "st-1", participantID: "alice")

    private let folder: TemporaryDirectory
    private let spool: Spool
    private let director = MemoryDirector()

    init() throws {
        folder = try TemporaryDirectory()
        spool = try Spool(path: folder.path + "/spool", maximumByteCount: 1 << 20)
    }

    private var environment: Recording.Environment {
        Recording.Environment(
            spool: spool, director: director, metrics: RecordingMetrics(MetricsRegistry()),
            clocks: { (MonotonicTime(nanoseconds: 1), Self.began) }, makeAnswer: { _ in { _ in } },
            makePicture: { _, _ in false }, latest: LatestThumbnails())
    }

    /// A page that publishes twice at once has two without a window.
    @Test
    func `those that begin in one second have places of their own`() throws {
        let publish = RecordedPublish(
            participant: Self.participant, plan: RecordingPlan(bucket: "b"), feed: RecordingFeed(), tracksShareClock: true)
        let table = RecordingTable()
        for second in 0..<3 {
            let header = table.header(of: publish, at: Self.began)
            #expect(header.prefix == "stage/st-1/alice/\((Self.began + .seconds(second)).pathText)")
            table.add(try Recording(header, in: environment))
        }
    }

    /// A small one is stored at once, and an encoder that is refused comes again at once.
    @Test
    func `one that is closed already keeps its place from those of its second`() throws {
        let publish = RecordedPublish(
            participant: Self.participant, plan: RecordingPlan(bucket: "b"), feed: RecordingFeed(), tracksShareClock: true)
        let table = RecordingTable()
        let header = table.header(of: publish, at: Self.began)
        let recording = try Recording(header, in: environment)
        recording.begin(expectsVideo: true, tracksShareClock: true)
        table.add(recording)
        recording.pause()
        table.advance(at: Self.began)
        #expect(recording.book.isClosed && table.header(of: publish, at: Self.began).prefix != header.prefix)
        table.advance(at: Self.began + .seconds(1))
        #expect(table.isEmpty)
    }

    /// As where another process had the earlier ones until it ended.
    @Test
    func `of several that wait the latest goes on`() throws {
        var plan = RecordingPlan(bucket: "b")
        plan.reconnectWindow = .seconds(300)
        let publish = RecordedPublish(
            participant: Self.participant, plan: plan, feed: RecordingFeed(), tracksShareClock: true)
        let table = RecordingTable()
        let recordings = try (0..<8).map { _ in
            let recording = try Recording(table.header(of: publish, at: Self.began), in: environment)
            table.add(recording)
            return recording
        }
        #expect(table.former(of: publish) === recordings.last)
    }

    /// What it left some years ago waits for its bucket.
    @Test(.timeLimit(.minutes(5)))
    func `one that is over does not go on, whatever the register says`() throws {
        var plan = RecordingPlan(bucket: "b")
        plan.reconnectWindow = .seconds(30)
        let header = RecordingHeader(Self.participant, plan, began: Self.began)
        var left: Recording? = try Recording(header, in: environment)
        left?.begin(expectsVideo: true, tracksShareClock: true)
        left?.take(RecordingTests.block(seconds: 3, firstNumber: 0))
        left?.pause()
        left = nil
        let director = ClusterDirector(header, plan)
        let recordings = try Recordings(
            spool: spool.path, maximumByteCount: 1 << 20, director: director, metrics: MetricsRegistry())
        defer { recordings.stop() }
        let grant = PublishGrant(participantID: "alice", stageARN: "arn:stage", stageID: "stage", credentialHash: "h")
        let lease = PublishLease(participantID: "alice", stageID: "stage", stageSessionID: "st-1", generation: 1)
        recordings.publishBegan(Publication(grant: grant, lease: lease, ingestProtocol: .rtmp, timeline: Timeline()))
        func begun() -> RecordingSummary? { director.told.withLock { told in told.first { $0.state == .starting } } }
        #expect(waitUntil { begun() != nil })
        #expect(begun()?.prefix != header.prefix)
    }

    /// An encoder's connection may break again before the register has said whose the recording is.
    @Test
    func `those that wait for the register's word begin in the order in which they came`() throws {
        let loop = try EventLoop()
        let mailbox = try Mailbox<RecordingMessage>(loop: loop) { _ in }
        let plan = RecordingPlan(bucket: "b")
        let register = ClusterDirector(RecordingHeader(Self.participant, plan, began: Self.began), plan)
        let arrivals = Arrivals(loop: loop)
        let publishes = (0..<2).map { _ in
            RecordedPublish(participant: Self.participant, plan: plan, feed: RecordingFeed(), tracksShareClock: true)
        }
        for publish in publishes { arrivals.add(publish, register, mailbox.sender) }
        let begun = [1, 0, 1].map { index in
            arrivals.decide(ObjectIdentifier(publishes[index].feed), .success(nil), leave: { _ in }) != nil
        }
        #expect(begun == [false, true, true])
    }

    /// A window of five minutes outlives a stage session, which ends after three.
    @Test
    func `one goes on in another stage session, and is told of there`() throws {
        var plan = RecordingPlan(bucket: "b")
        plan.reconnectWindow = .seconds(300)
        let header = RecordingHeader(Self.participant, plan, began: Self.began)
        var recording: Recording? = try Recording(header, in: environment)
        recording?.goOn(inSession: "st-1")
        recording?.begin(expectsVideo: true, tracksShareClock: true)
        recording?.take(RecordingTests.block(seconds: 3, firstNumber: 0))
        recording?.pause()
        recording?.goOn(inSession: "st-2")
        recording?.begin(expectsVideo: true, tracksShareClock: true)
        #expect(director.content.withLock { $0.states } == [.stopping, .inNextSession, .starting])
        let summary = try #require(recording?.book.summary(.active))
        #expect(summary.participant.stageSessionID == "st-2" && summary.prefix == header.prefix)
        recording = nil
        let left = try #require(spool.folders.first)
        let recovered = try #require(try Recording(recovering: left, in: environment))
        #expect(recovered.header.participant.stageSessionID == "st-2" && recovered.header.prefix == header.prefix)
    }
}
