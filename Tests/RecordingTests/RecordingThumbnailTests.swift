import EventLoop
import Foundation
import GatewayMetrics
import TestSupport
import Testing
import Wire

@testable import Recording

@Suite("Thumbnails of recordings")
struct RecordingThumbnailTests {
    private let folder: TemporaryDirectory
    private let director = MemoryDirector()
    private let latest = LatestThumbnails()
    private let answers = RecordingTests.Answers()
    /// Keyframes that a picture was asked of.
    private let keyframes = Lock<[[UInt8]]>([])
    private let now = Lock(MonotonicTime(nanoseconds: 1))

    init() throws { folder = try TemporaryDirectory() }

    private func spool(_ maximumByteCount: Int = 1 << 20) throws -> Spool {
        try Spool(path: folder.path + "/spool", maximumByteCount: maximumByteCount)
    }

    private func environment(_ spool: Spool) -> Recording.Environment {
        Recording.Environment(
            spool: spool, director: director, metrics: RecordingMetrics(MetricsRegistry()),
            clocks: { [now] in (now.withLock { $0 }, WallTime(secondsSince1970: 1_704_110_455)) },
            makeAnswer: { [answers] _ in { result in answers.results.withLock { $0.append(result) } } },
            makePicture: { [keyframes] _, unit in
                keyframes.withLock { $0.append(unit) }
                return true
            }, latest: latest)
    }

    private func header(
        _ media: RecordingPlan.Media = .audioAndVideo, keepsAll: Bool = true, keepsLatest: Bool = false
    ) -> RecordingHeader {
        let participant = RecordedParticipant(stageID: "stage", stageSessionID: "st-1", participantID: "alice")
        return RecordingHeader(
            participant: participant, bucket: "b", prefix: "stage/st-1/alice/then", segmentDuration: 2, reconnectWindowSeconds: 0,
            began: WallTime(secondsSince1970: 1_704_110_455), media: media,
            thumbnails: .init(interval: 60, keepsAll: keepsAll, keepsLatest: keepsLatest))
    }

    private func storeAll(_ recording: Recording) -> Bool {
        for _ in 0..<1_000 {
            if recording.advance(at: WallTime(secondsSince1970: 1_704_110_500)) { return true }
            guard let answer = answers.take() else { return false }
            recording.answered(answer)
        }
        return false
    }

    private var keys: [String] { director.content.withLock { $0.keys } }
    private var states: [RecordingSummary.State] { director.content.withLock { $0.states } }
    private func object(_ name: String) -> [UInt8]? { director.content.withLock { $0.objects["stage/st-1/alice/then/\(name)"] } }

    /// A recording that has its first second.
    private func begun(_ header: RecordingHeader, _ spool: Spool) throws -> Recording {
        let recording = try Recording(header, in: environment(spool))
        recording.begin(expectsVideo: true, tracksShareClock: true)
        recording.take(RecordingTests.block(seconds: 5, firstNumber: 0))
        return recording
    }

    @Test
    func `all of them are numbered, the latest has a name of its own, and the end waits for the last`() throws {
        let spool = try spool()
        let recording = try begun(header(keepsLatest: true), spool)
        let sets = SegmentScript.sets
        let units: [[UInt8]] = sets.sequence + sets.picture + [[0x65, 1, 2]]
        let unit: [UInt8] = units.flatMap { unit -> [UInt8] in [0, 0, 0, 1] + unit }
        #expect(keyframes.withLock { $0 } == [unit], "one in the interval, with what it is decoded with")
        recording.pictured([1])
        #expect(latest.picture(ofParticipant: "alice", onStage: "stage") == [1])
        #expect(!storeAll(recording))
        now.withLock { $0 = MonotonicTime(nanoseconds: 61_000_000_000) }
        recording.take(RecordingTests.block(seconds: 1, from: 450_000, firstNumber: 1_000))
        #expect(keyframes.withLock { $0.count } == 2)
        recording.pause()
        #expect(latest.picture(ofParticipant: "alice", onStage: "stage") == nil)
        #expect(!storeAll(recording) && !keys.contains("events/ended"))
        recording.pictured([2, 2])
        #expect(storeAll(recording))
        #expect(
            keys.filter { $0.hasSuffix(".jpg") } == [
                "media/thumbnails/high/1.jpg", "media/latest_thumbnail/high/thumb.jpg", "media/thumbnails/high/2.jpg",
                "media/latest_thumbnail/high/thumb.jpg",
            ])
        #expect(object("media/thumbnails/high/1.jpg") == [1] && object("media/thumbnails/high/2.jpg") == [2, 2])
        #expect(object("media/latest_thumbnail/high/thumb.jpg") == [2, 2])
        #expect(keys.last == "events/ended" && spool.folders.isEmpty && spool.byteCount == 0)
    }

    @Test(arguments: [true, false])
    func `thumbnails alone are a recording too`(keepsAll: Bool) throws {
        let spool = try spool()
        let recording = try begun(header(.thumbnailsAlone, keepsAll: keepsAll, keepsLatest: !keepsAll), spool)
        #expect(!storeAll(recording) && keys.isEmpty)
        recording.pictured([7])
        #expect(!storeAll(recording))
        let name = keepsAll ? "media/thumbnails/high/1.jpg" : "media/latest_thumbnail/high/thumb.jpg"
        #expect(keys == [name, "events/started"] && states == [.active])
        recording.pause()
        #expect(storeAll(recording))
        #expect(keys == [name, "events/started", "events/ended"])
    }

    @Test
    func `without a segment they tell neither of a beginning nor of an end`() throws {
        let recording = try Recording(header(), in: environment(try spool()))
        recording.begin(expectsVideo: true, tracksShareClock: true)
        recording.pictured([7])
        recording.pause()
        #expect(storeAll(recording))
        #expect(keys == ["media/thumbnails/high/1.jpg"] && states == [.stopping, .stopped])
    }

    @Test
    func `what a former process left of them is stored, and what is not whole is not`() throws {
        let first = try spool()
        var killed: Recording? = try begun(header(), first)
        killed?.pictured([1, 2, 3])
        killed?.pictured([4, 5, 6])
        killed?.pictured([7, 8, 9])
        killed = nil
        let left = try #require(first.folders.first)
        try Data([4]).write(to: URL(fileURLWithPath: left + "/thumb-2.jpg"))
        let second = try spool()
        let next = try #require(try Recording(recovering: left, in: environment(second)))
        #expect(storeAll(next))
        #expect(keys.filter { $0.hasSuffix(".jpg") } == ["media/thumbnails/high/1.jpg", "media/thumbnails/high/3.jpg"])
        #expect(second.byteCount == 0)
    }

    @Test
    func `a keyframe without a picture, and a full spool, end nothing`() throws {
        let recording = try begun(header(), try spool(12_000))
        recording.pictured(nil)
        recording.pictured([UInt8](repeating: 0, count: 12_000))
        recording.pause()
        #expect(storeAll(recording))
        #expect(states.last == .stopped && !keys.contains { $0.hasSuffix(".jpg") })
    }

    /// It would come to whichever recording lies in its place in memory.
    @Test
    func `a recording waits for its picture, whatever has become of it`() throws {
        let recording = try begun(header(), try spool())
        #expect(keyframes.withLock { $0.count } == 1)
        recording.pause()
        recording.leave()
        let now = WallTime(secondsSince1970: 1_704_110_500)
        let isGone = recording.advance(at: now)
        recording.pictured([1])
        #expect(!isGone && recording.advance(at: now))
        #expect(keys.isEmpty)
    }
}
