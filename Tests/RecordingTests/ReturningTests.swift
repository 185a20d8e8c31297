import EventLoop
import GatewayMetrics
import TestSupport
import Testing
import Wire

@testable import Recording

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
