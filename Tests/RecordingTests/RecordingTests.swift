import EventLoop
import Foundation
import GatewayMetrics
import ObjectStorage
import StageHub
import Synchronization
import TestSupport
import Testing
import Wire

@testable import Recording

/// A director that keeps what is stored in memory, and may refuse.
final class MemoryDirector: RecordingDirector {
    struct Content: Sendable {
        var keys: [String] = []
        var objects: [String: [UInt8]] = [:]
        var states: [RecordingSummary.State] = []
        var refusal: UploadResult?
        var last: Upload?
    }

    let content = Lock(Content())
    let register: (any RecordingRegister)?

    init(register: (any RecordingRegister)? = nil) { self.register = register }

    func plan(for participant: RecordedParticipant, isReplica: Bool) -> RecordingPlan? { RecordingPlan(bucket: "b") }

    func documents(of recording: RecordingSummary) -> [StoredObject] {
        let name = recording.state == .active ? "started" : "ended"
        return [StoredObject(key: "\(recording.prefix)/events/\(name)", contentType: "application/json", content: .bytes([1]))]
    }

    func changed(_ recording: RecordingSummary) { content.withLock { $0.states.append(recording.state) } }

    func put(_ upload: Upload) {
        #expect(upload.bucket == "b")
        let object = upload.object
        let refusal = content.withLock { content in
            content.last = upload
            guard content.refusal == nil else { return content.refusal }
            content.keys.append(object.key.split(separator: "/").dropFirst(4).joined(separator: "/"))
            switch object.content {
            case .bytes(let bytes): content.objects[object.key] = bytes
            case .file(let path):
                let data = FileManager.default.contents(atPath: path).map(Array.init)
                #expect(data != nil, "\(path) is not there")
                content.objects[object.key] = data ?? []
            }
            return nil
        }
        upload.done(refusal ?? .stored)
    }
}

/// One that is silent: the test answers in its place.
private struct SilentRegister: RecordingRegister {
    let node = "a"
    func write(_ line: RegisterLine) {}
    func read(
        _: RecordedParticipant, prefix: String?, then: @escaping @Sendable (Result<RegisterPage?, any Error>) -> Void
    ) {}
}

@Suite("Recordings")
struct RecordingTests {
    private let folder: TemporaryDirectory
    private let director = MemoryDirector()
    private let participant = RecordedParticipant(stageID: "stage", stageSessionID: "st-1", participantID: "alice")

    init() throws { folder = try TemporaryDirectory() }

    private func environment(
        _ spool: Spool, answers: Answers = Answers(), director: MemoryDirector? = nil,
        monotonic: @escaping () -> MonotonicTime = { MonotonicTime(nanoseconds: 1) }
    ) -> Recording.Environment {
        Recording.Environment(
            spool: spool, director: director ?? self.director, metrics: RecordingMetrics(MetricsRegistry()),
            clocks: { (monotonic(), WallTime(secondsSince1970: 1_704_110_455)) },
            makeAnswer: { _ in { result in answers.results.withLock { $0.append(result) } } },
            makePicture: { _, _ in false }, latest: LatestThumbnails())
    }

    final class Answers: Sendable {
        let results = Lock<[UploadResult]>([])
        func take() -> UploadResult? {
            results.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        }
    }

    private func header(window: Int = 0) -> RecordingHeader {
        let began = WallTime(secondsSince1970: 1_704_110_455)
        return RecordingHeader(
            participant: participant, bucket: "b", prefix: "stage/st-1/alice/\(began.pathText)", segmentDuration: 2,
            reconnectWindowSeconds: window, began: began)
    }

    /// Of `block`: parameter sets come before each keyframe.
    private static let packetsPerSecond = Int64(SegmentScript.sets.sequence.count + SegmentScript.sets.picture.count + 30)

    /// Pictures of one encoder, as the hub's packets would bring them.
    static func block(seconds: Int, from start: Int64 = 0, firstNumber: Int64) -> RecordingBlock {
        let block = RecordingBlock()
        block.begin(at: .zero)
        var number = firstNumber
        for picture in 0..<(seconds * 30) {
            let isKey = picture % 30 == 0
            let payloads: [[UInt8]] =
                isKey ? SegmentScript.sets.sequence + SegmentScript.sets.picture + [[0x65, 1, 2]] : [[0x41, 3]]
            for (index, payload) in payloads.enumerated() {
                payload.withUnsafeBytes { bytes in
                    let packet = MediaPacket(
                        sequenceNumber: number, timestamp: start + Int64(picture) * 3_000, marker: index == payloads.count - 1,
                        payload: bytes)
                    _ = withUnsafePointer(to: packet) { block.append(UnsafeBufferPointer(start: $0, count: 1)[...], of: .video) }
                }
                number += 1
            }
        }
        return block
    }

    /// What a process that was killed leaves: five seconds of one participant.
    func leaveRecording(in path: String) throws {
        let recording = try Recording(header(), in: environment(try Spool(path: path, maximumByteCount: 1 << 20)))
        recording.begin(expectsVideo: true, tracksShareClock: true)
        recording.take(Self.block(seconds: 5, firstNumber: 0))
    }

    private func storeAll(_ recording: Recording, _ answers: Answers, at now: Int64 = 1_704_110_500) -> Bool {
        for _ in 0..<1_000 {
            if recording.advance(at: WallTime(secondsSince1970: now)) { return true }
            guard let answer = answers.take() else { return false }
            recording.answered(answer)
        }
        return false
    }

    @Test
    func `what a playlist names is stored before it, and the end is told last`() throws {
        let (spool, answers) = (try Spool(path: folder.path + "/spool", maximumByteCount: 1 << 20), Answers())
        let recording = try Recording(header(), in: environment(spool, answers: answers))
        recording.begin(expectsVideo: true, tracksShareClock: true)
        recording.take(Self.block(seconds: 5, firstNumber: 0))
        #expect(!storeAll(recording, answers))
        #expect(
            director.content.withLock { $0.keys } == [
                "media/hls/high/init-0.mp4", "media/hls/high/1.mp4", "media/hls/high/2.mp4", "media/hls/high/playlist.m3u8",
                "media/hls/multivariant.m3u8", "events/started",
            ])
        recording.pause()
        #expect(storeAll(recording, answers))
        #expect(
            director.content.withLock { $0.keys.dropFirst(6) } == [
                "media/hls/high/3.mp4", "media/hls/high/playlist.m3u8", "media/hls/multivariant.m3u8", "events/ended",
            ])
        #expect(director.content.withLock { $0.states } == [.active, .stopping, .stopped])
        #expect(spool.folders.isEmpty && spool.byteCount == 0)
    }

    /// Of an encoder that was gone before its first keyframe.
    @Test
    func `of a publish without anything to record nothing is stored`() throws {
        let (spool, answers) = (try Spool(path: folder.path + "/spool", maximumByteCount: 1 << 20), Answers())
        let recording = try Recording(header(), in: environment(spool, answers: answers))
        recording.begin(expectsVideo: true, tracksShareClock: true)
        recording.pause()
        #expect(storeAll(recording, answers))
        #expect(director.content.withLock { $0.keys }.isEmpty && spool.folders.isEmpty)
        #expect(director.content.withLock { $0.states } == [.stopping, .stopped])
    }

    @Test
    func `a participant who comes back in time goes on in the same recording`() throws {
        let (spool, answers) = (try Spool(path: folder.path + "/spool", maximumByteCount: 1 << 20), Answers())
        let recording = try Recording(header(window: 60), in: environment(spool, answers: answers))
        recording.begin(expectsVideo: true, tracksShareClock: true)
        recording.take(Self.block(seconds: 3, firstNumber: 0))
        recording.pause()
        #expect(!storeAll(recording, answers, at: 1_704_110_455 + 59))
        recording.begin(expectsVideo: true, tracksShareClock: true)
        recording.take(Self.block(seconds: 3, from: 77, firstNumber: 5_000))
        recording.pause()
        #expect(!storeAll(recording, answers, at: 1_704_110_455 + 59))
        #expect(storeAll(recording, answers, at: 1_704_110_455 + 60))
        let text = try #require(
            director.content.withLock { $0.objects["\(recording.header.prefix)/media/hls/high/playlist.m3u8"] })
        let playlist = String(decoding: text, as: UTF8.self)
        #expect(playlist.split(separator: "\n").filter { $0.hasSuffix(".mp4") } == ["1.mp4", "2.mp4", "3.mp4", "4.mp4"])
        #expect(playlist.contains("#EXT-X-DISCONTINUITY\n#EXT-X-MAP:URI=\"init-1.mp4\""))
        let keys = director.content.withLock { $0.keys }
        #expect(keys.filter { $0 == "events/ended" }.count == 1)
        // Of the first encoder, of the second, and the last one.
        #expect(keys.filter { $0 == "media/hls/multivariant.m3u8" }.count == 3)
    }

    /// As after kill -9: the journal is read at every length that it ever had, and what it says is finished.
    @Test
    func `a journal cut anywhere is finished by the next start`() throws {
        let (spool, answers) = (try Spool(path: folder.path + "/spool", maximumByteCount: 1 << 20), Answers())
        var killed: Recording? = try Recording(header(), in: environment(spool, answers: answers))
        killed?.begin(expectsVideo: true, tracksShareClock: true)
        killed?.take(Self.block(seconds: 5, firstNumber: 0))
        killed = nil
        let left = try #require(spool.folders.first)
        let journal = try String(contentsOfFile: left + "/journal", encoding: .utf8)
        for length in stride(from: 0, through: journal.utf8.count, by: 7) {
            let copy = "\(folder.path)/copy-\(length)"
            try FileManager.default.copyItem(atPath: left, toPath: copy)
            try Data(journal.utf8.prefix(length)).write(to: URL(fileURLWithPath: copy + "/journal"))
            let answers = Answers()
            let spool = try Spool(path: folder.path + "/spool", maximumByteCount: 1 << 20)
            guard let next = try Recording(recovering: copy, in: environment(spool, answers: answers)) else {
                #expect(!journal.utf8.prefix(length).contains(10))
                continue
            }
            #expect(storeAll(next, answers), "\(length)")
            #expect(!FileManager.default.fileExists(atPath: copy))
        }
    }

    /// The line that says so was in memory still when the power went.
    @Test
    func `a segment whose file is gone is in its bucket`() throws {
        let (spool, answers) = (try Spool(path: folder.path + "/spool", maximumByteCount: 1 << 20), Answers())
        try leaveRecording(in: spool.path)
        let left = try #require(spool.folders.first)
        SpoolFile.remove(left + "/1.mp4")
        let recording = try #require(try Recording(recovering: left, in: environment(spool, answers: answers)))
        #expect(storeAll(recording, answers))
        let content = director.content.withLock { $0 }
        // What it needs was stored before it; of the third, no frame had come to the journal.
        #expect(content.keys.filter { $0.hasSuffix(".mp4") } == ["media/hls/high/2.mp4"])
        let text = try #require(content.objects["\(recording.header.prefix)/media/hls/high/playlist.m3u8"])
        #expect(String(decoding: text, as: UTF8.self).contains("\n1.mp4\n") && content.states.last == .stopped)
        #expect(spool.byteCount == 0)
    }

    @Test
    func `a journal that another process has is left alone`() throws {
        let spool = try Spool(path: folder.path + "/spool", maximumByteCount: 1 << 20)
        let recording = try Recording(header(), in: environment(spool))
        let left = try #require(spool.folders.first)
        #expect(throws: SpoolError("take \(left)", EWOULDBLOCK)) { try Recording(recovering: left, in: environment(spool)) }
        #expect(!recording.isLive)
    }

    @Test
    func `a full spool ends the recording with words, and what is whole is stored`() throws {
        let (answers, size) = (Answers(), Spool.size(forOneBucketOf: 2_500))
        let spool = try Spool(path: folder.path + "/spool", maximumByteCount: size)
        let recording = try Recording(header(), in: environment(spool, answers: answers))
        recording.begin(expectsVideo: true, tracksShareClock: true)
        recording.take(Self.block(seconds: 9, firstNumber: 0))
        #expect(recording.book.failure?.contains("recording.spool") == true)
        #expect(storeAll(recording, answers))
        let states = director.content.withLock { $0.states }
        guard case .failed(let reason)? = states.last else { return #expect(Bool(false), "\(states)") }
        #expect(reason.contains("recording.spool"))
        #expect(director.content.withLock { $0.keys }.contains("media/hls/high/1.mp4"))
        #expect(spool.byteCount == 0)
    }

    /// Its times jump with each keyframe.
    @Test
    func `a flood of segments ends its recording with words, and what is whole is stored`() throws {
        let (spool, answers) = (try Spool(path: folder.path + "/spool", maximumByteCount: 1 << 20), Answers())
        let recording = try Recording(header(), in: environment(spool, answers: answers))
        recording.begin(expectsVideo: true, tracksShareClock: true)
        for index in 0..<40 as Range<Int64> {
            recording.take(Self.block(seconds: 1, from: index * 100_000_000, firstNumber: index * 10_000))
        }
        #expect(recording.book.failure?.contains("segments") == true)
        #expect(storeAll(recording, answers))
        let names = director.content.withLock { $0.keys }.filter { $0.hasSuffix(".mp4") && !$0.contains("init") }
        #expect(names == (1...SegmentWriter.maximumSegmentsAtOnce).map { "media/hls/high/\($0).mp4" })
        #expect(spool.byteCount == 0)
    }

    @Test(.enabled(if: Privileges.mounts, "mounts a file system, which needs root"))
    func `what is stored is stored once, also where the disk has no room for a line that says so`() throws {
        let path = folder.path + "/spool"
        let (spool, answers) = (try Spool(path: path, maximumByteCount: 1 << 20), Answers())
        try #require(mount("tmpfs", path, "tmpfs", 0, "size=128k") == 0)
        defer { umount2(path, CInt(MNT_DETACH)) }
        let recording = try Recording(header(), in: environment(spool, answers: answers))
        recording.begin(expectsVideo: true, tracksShareClock: true)
        recording.take(Self.block(seconds: 5, firstNumber: 0))
        try Self.fill(path, spool.folders[0] + "/journal")
        #expect(storeAll(recording, answers))
        #expect(recording.book.failure?.contains("No space left on device") == true)
        let keys = director.content.withLock { $0.keys }
        #expect(keys.filter { $0.hasSuffix(".mp4") } == ["init-0", "1", "2"].map { "media/hls/high/\($0).mp4" })
        #expect(keys.filter { $0.hasPrefix("events/") } == ["events/started", "events/ended"])
        #expect(spool.byteCount == 0)
    }

    /// Takes all pages of a small disk, and the rest of the journal's last one.
    static func fill(_ path: String, _ journal: String) throws {
        for file in [path + "/.ballast", journal] {
            let ballast = try #require(fopen(file, "a"))
            setvbuf(ballast, nil, _IONBF, 0)
            while fputc(0, ballast) != EOF {}
            fclose(ballast)
        }
    }

    /// - Parameter freePages: with one the segment's or the thumbnail's file has room, its line in the journal has none.
    @Test(.enabled(if: Privileges.mounts, "mounts a file system, which needs root"), arguments: [0, 1], [false, true])
    func `what a full disk refuses takes nothing of the spool`(freePages: Int, isThumbnail: Bool) throws {
        let path = folder.path + "/spool"
        let (spool, answers) = (try Spool(path: path, maximumByteCount: 1 << 20), Answers())
        try #require(mount("tmpfs", path, "tmpfs", 0, "size=128k") == 0)
        defer { umount2(path, CInt(MNT_DETACH)) }
        var header = header()
        header.thumbnails = .init(interval: 60, keepsAll: true, keepsLatest: false)
        let recording = try Recording(header, in: environment(spool, answers: answers))
        recording.begin(expectsVideo: true, tracksShareClock: true)
        recording.take(Self.block(seconds: 5, firstNumber: 0))
        try Self.fill(path, spool.folders[0] + "/journal")
        let ballast = try #require(SpoolFile.byteCount(of: path + "/.ballast"))
        try SpoolFile.shorten(path + "/.ballast", to: ballast - freePages * Int(getpagesize()))
        if isThumbnail {
            recording.pictured([1, 2, 3])
        } else {
            recording.take(Self.block(seconds: 9, from: 450_000, firstNumber: 5 * Self.packetsPerSecond))
        }
        #expect(spool.byteCount == recording.book.spooledByteCount)
        recording.pause()
        #expect(storeAll(recording, answers))
        #expect(recording.book.failure?.contains("No space left on device") == true)
        #expect(spool.byteCount == 0)
    }

    @Test
    func `what another node goes on with gives back its room once, whatever is under way`() throws {
        let (spool, answers) = (try Spool(path: folder.path + "/spool", maximumByteCount: 1 << 20), Answers())
        let recording = try Recording(header(window: 60), in: environment(spool, answers: answers))
        recording.begin(expectsVideo: true, tracksShareClock: true)
        recording.take(Self.block(seconds: 5, firstNumber: 0))
        recording.pause()
        let now = WallTime(secondsSince1970: 1_704_110_456)
        // Its initialization, then a segment.
        let isOver = recording.advance(at: now)
        recording.answered(try #require(answers.take()))
        let isOverNow = recording.advance(at: now)
        #expect(!isOver && !isOverNow && spool.byteCount > 0)
        for _ in 0..<2 { recording.leave() }
        #expect(spool.byteCount == 0 && spool.folders.isEmpty && recording.waitingSince == nil)
        let isOverThen = recording.advance(at: now)
        recording.answered(try #require(answers.take()))
        #expect(!isOverThen && spool.byteCount == 0)
        #expect(recording.advance(at: now))
    }

    @Test
    func `what a bucket has not taken is given up where another node has the recording`() throws {
        let spool = try Spool(path: folder.path + "/spool", maximumByteCount: 1 << 20)
        let director = MemoryDirector(register: SilentRegister())
        var (now, asked) = (MonotonicTime(nanoseconds: 1), 0)
        var environment = environment(spool, director: director) { now }
        environment.askRegister = { _ in asked += 1 }
        let recording = try Recording(header(window: 60), in: environment)
        func advances() -> Bool { recording.advance(at: WallTime(secondsSince1970: 1_704_110_456)) }
        recording.begin(expectsVideo: true, tracksShareClock: true)
        recording.take(Self.block(seconds: 5, firstNumber: 0))
        #expect(!advances())
        recording.pause()
        #expect(!advances() && asked == 0)
        now = now + .seconds(10)
        #expect(!advances() && asked == 1)
        let upload = try #require(director.content.withLock { $0.last })
        #expect(upload.isWanted())
        recording.registerRead(.success(RegisterPage(node: "b", isClosed: false, texts: [])))
        #expect(recording.isElsewhere && !upload.isWanted())
    }

    @Test
    func `nobody is waited for longer where the clock was set back by hours`() throws {
        let spool = try Spool(path: folder.path + "/spool", maximumByteCount: 1 << 20)
        let recording = try Recording(header(window: 60), in: environment(spool))
        recording.begin(expectsVideo: true, tracksShareClock: true)
        recording.pause()
        let paused = WallTime(secondsSince1970: 1_704_110_455)
        #expect(!recording.isOver(at: paused + .seconds(59)) && recording.isOver(at: paused + .seconds(60)))
        #expect(!recording.isOver(at: paused + .seconds(-30)) && recording.isOver(at: paused + .seconds(-7_200)))
    }

    @Test
    func `whose it is is asked again after a publish that went on meanwhile, and it stays until it is answered`() throws {
        let spool = try Spool(path: folder.path + "/spool", maximumByteCount: 1 << 20)
        var environment = environment(spool, director: MemoryDirector(register: SilentRegister()))
        var asked = 0
        environment.askRegister = { _ in asked += 1 }
        let recording = try Recording(header(window: 60), in: environment)
        let (now, page) = (WallTime(secondsSince1970: 1_704_110_456), RegisterPage(node: "a", isClosed: false, texts: []))
        func advances() -> Bool { recording.advance(at: now) }
        recording.begin(expectsVideo: true, tracksShareClock: true)
        recording.take(Self.block(seconds: 5, firstNumber: 0))
        recording.pause()
        #expect(!advances() && asked == 1)
        recording.begin(expectsVideo: true, tracksShareClock: true)
        recording.registerRead(.success(page))
        recording.pause()
        #expect(!advances() && asked == 2)
        // What comes now is for this recording, not for the next one at its place in memory.
        recording.leave()
        #expect(!advances() && recording.isIdle)
        recording.registerRead(.success(page))
        #expect(advances() && recording.isElsewhere)
    }

    @Test
    func `a page that comes when the recording is closed changes nothing that was told`() throws {
        let whole = try Spool(path: folder.path + "/whole", maximumByteCount: 1 << 20)
        let former = try Recording(header(), in: environment(whole))
        former.begin(expectsVideo: true, tracksShareClock: true)
        former.take(Self.block(seconds: 5, firstNumber: 0))
        former.pause()
        // There is room for one such publish.
        let spool = try Spool(path: folder.path + "/spool", maximumByteCount: Spool.size(forOneBucketOf: whole.byteCount))
        let (answers, director) = (Answers(), MemoryDirector(register: SilentRegister()))
        let recording = try Recording(header(window: 60), in: environment(spool, answers: answers, director: director))
        recording.begin(expectsVideo: true, tracksShareClock: true)
        recording.take(Self.block(seconds: 5, firstNumber: 0))
        recording.pause()
        #expect(!storeAll(recording, answers, at: 1_704_110_456), "it is asked whose it is")
        recording.begin(expectsVideo: true, tracksShareClock: true)
        recording.take(Self.block(seconds: 5, from: 77, firstNumber: 5_000))
        #expect(recording.book.failure != nil)
        #expect(!storeAll(recording, answers, at: 1_704_110_456) && recording.book.isClosed, "the page is on its way")
        recording.pause()
        let told = director.content.withLock { $0.states }
        recording.registerRead(.success(RegisterPage(node: "a", isClosed: false, texts: [])))
        #expect(storeAll(recording, answers, at: 1_704_110_456))
        #expect(director.content.withLock { $0.states } == told)
    }

    @Test
    func `a failure stays the last that is told where the publish ends while that is stored`() throws {
        let spool = try Spool(path: folder.path + "/spool", maximumByteCount: 1)
        let (answers, director) = (Answers(), MemoryDirector(register: SilentRegister()))
        let recording = try Recording(header(window: 60), in: environment(spool, answers: answers, director: director))
        recording.begin(expectsVideo: true, tracksShareClock: true)
        recording.take(Self.block(seconds: 5, firstNumber: 0))
        let isOver = recording.advance(at: WallTime(secondsSince1970: 1_704_110_456))
        recording.pause()
        #expect(!isOver && director.content.withLock { $0.keys } == ["events/ended"])
        #expect(!storeAll(recording, answers, at: 1_704_110_456), "it is asked whose it is")
        let told = director.content.withLock { $0.states }
        guard case .failed? = told.last else { return #expect(Bool(false), "\(told)") }
        recording.registerRead(.success(RegisterPage(node: "a", isClosed: true, texts: [])))
        #expect(director.content.withLock { $0.states } == told)
        #expect(storeAll(recording, answers, at: 1_704_110_456))
    }

    @Test(arguments: [true, false])
    func `a bucket that refused is asked again, and nothing else is told of its recording`(hasBegun: Bool) throws {
        let (spool, answers) = (try Spool(path: folder.path + "/spool", maximumByteCount: 1 << 20), Answers())
        var now = MonotonicTime(nanoseconds: 1)
        let recording = try Recording(header(), in: environment(spool, answers: answers) { now })
        recording.begin(expectsVideo: true, tracksShareClock: true)
        recording.take(Self.block(seconds: 5, firstNumber: 0))
        if hasBegun { #expect(!storeAll(recording, answers)) }
        director.content.withLock { $0.refusal = .failed("403") }
        recording.pause()
        for _ in 0..<2 {
            #expect(!storeAll(recording, answers) && spool.byteCount > 0 && recording.waitingSince != nil)
            now = now + Delivery.refusalPause
        }
        let told = director.content.withLock { $0.states }
        #expect(told.last == .failed("403"))
        director.content.withLock { $0.refusal = nil }
        #expect(storeAll(recording, answers))
        let content = director.content.withLock { $0 }
        #expect(content.states == told && content.keys.count { $0 == "events/ended" } == 1)
        #expect(content.keys.contains("media/hls/high/3.mp4") && spool.byteCount == 0 && spool.folders.isEmpty)
    }

    @Test
    func `what a bucket refuses for good stays in the spool`() throws {
        let (spool, answers) = (try Spool(path: folder.path + "/spool", maximumByteCount: 1 << 20), Answers())
        var recording: Recording? = try Recording(header(), in: environment(spool, answers: answers))
        recording?.begin(expectsVideo: true, tracksShareClock: true)
        recording?.take(Self.block(seconds: 5, firstNumber: 0))
        recording?.pause()
        director.content.withLock { $0.refusal = .failed("403") }
        #expect(recording.map { storeAll($0, answers) } == false)
        let told = director.content.withLock { $0.states }
        #expect(told.last == .failed("403"))
        let left = try #require(spool.folders.first)
        recording = nil
        director.content.withLock { $0.refusal = nil }
        let next = try #require(try Recording(recovering: left, in: environment(spool, answers: answers)))
        #expect(storeAll(next, answers))
        let content = director.content.withLock { $0 }
        #expect(content.states == told && content.keys.count { $0 == "events/ended" } == 1)
    }
}
