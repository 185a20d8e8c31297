import EventLoop
import GatewayMetrics
import TestSupport
import Testing
import Wire

@testable import Recording

@Suite("Metrics of recordings")
struct RecordingMetricsTests {
    private let folder: TemporaryDirectory
    private let director = MemoryDirector()
    private let answers = RecordingTests.Answers()
    private let registry = MetricsRegistry()

    init() throws { folder = try TemporaryDirectory() }

    /// A publish of five seconds that is over.
    private func recorded(_ metrics: RecordingMetrics, spool byteCount: Int) throws -> Recording {
        let spool = try Spool(path: folder.path + "/spool-\(byteCount)", maximumByteCount: byteCount)
        let environment = Recording.Environment(
            spool: spool, director: director, metrics: metrics,
            clocks: { (MonotonicTime(nanoseconds: 1), WallTime(secondsSince1970: 1_704_110_455)) },
            makeAnswer: { [answers] _ in { result in answers.results.withLock { $0.append(result) } } },
            makePicture: { _, _ in false }, latest: LatestThumbnails())
        let header = RecordingHeader(
            participant: RecordedParticipant(stageID: "stage", stageSessionID: "st-1", participantID: "alice"), bucket: "b",
            prefix: "stage/st-1/alice/then", segmentDuration: 2, reconnectWindowSeconds: 0,
            began: WallTime(secondsSince1970: 1_704_110_455))
        let recording = try Recording(header, in: environment)
        recording.begin(expectsVideo: true, tracksShareClock: true)
        recording.take(RecordingTests.block(seconds: 5, firstNumber: 0))
        recording.pause()
        return recording
    }

    private func storeAll(_ recording: Recording) -> Bool {
        for _ in 0..<1_000 {
            if recording.advance(at: WallTime(secondsSince1970: 1_704_110_500)) { return true }
            guard let answer = answers.take() else { return false }
            recording.answered(answer)
        }
        return false
    }

    private var exposition: String { String(decoding: registry.exposition(), as: UTF8.self) }

    @Test
    func `bytes count when they are written, seconds when they are stored, and nothing has failed`() throws {
        let recording = try recorded(RecordingMetrics(registry), spool: 1 << 20)
        #expect(exposition.contains("stagedoor_recorded_seconds_total 0\n"))
        #expect(storeAll(recording))
        let segments = director.content.withLock { $0.objects }.filter { $0.key.hasSuffix(".mp4") && !$0.key.contains("init-") }
        let byteCount = segments.values.reduce(0) { $0 + $1.count }
        #expect(segments.count == 3 && exposition.contains("stagedoor_recorded_bytes_total \(byteCount)\n"))
        #expect(exposition.contains("stagedoor_recorded_seconds_total 5\n"))
        #expect(exposition.contains("stagedoor_recording_failures_total 0\n"))
    }

    @Test
    func `a recording waits since its oldest segment's end, at last since its playlist was handed over`() throws {
        let recording = try recorded(RecordingMetrics(registry), spool: 1 << 20)
        let (oldest, now) = (try #require(recording.book.segments.first), WallTime(secondsSince1970: 1_704_110_500))
        #expect(recording.waitingSince == oldest.start.date + oldest.duration)
        while recording.book.waitingSince != nil {
            let isOver = recording.advance(at: now)
            recording.answered(try #require(answers.take()))
            #expect(!isOver)
        }
        #expect(!recording.advance(at: now))
        #expect(recording.waitingSince == WallTime(secondsSince1970: 1_704_110_455))
        #expect(storeAll(recording) && recording.waitingSince == nil)
    }

    @Test
    func `a recording that fails has failed once`() throws {
        let recording = try recorded(RecordingMetrics(registry), spool: 1)
        #expect(storeAll(recording) && recording.book.failure != nil)
        #expect(exposition.contains("stagedoor_recording_failures_total 1\n"))
        #expect(exposition.contains("stagedoor_recorded_seconds_total 0\n"))
    }
}
