import EventLoop
import GatewayMetrics
import ObjectStorage
import TestSupport
import Testing
import Wire

@testable import Recording

@Suite("Recordings that a former process left")
struct RecoveringTests {
    private static let began = WallTime(secondsSince1970: 1_704_110_455)

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

    /// A full disk had no room for the line of its end, and room again, when others were stored, for the one that it is stored.
    @Test
    func `a file is not looked for where its segment is stored and no line says that it ended`() throws {
        try RecordingTests().leaveRecording(in: spool.path)
        let left = try #require(spool.folders.first)
        var former: Chronicle? = try Chronicle(recovering: SpoolFolder(path: left), nil)
        let start = SegmentStart(number: 3, map: 0, isDiscontinuous: false, isIndependent: true, date: Self.began)
        try former?.note(.segment(start, byteCount: 9, nanoseconds: 1_000_000_000))
        try former?.note(.initializationStored(0))
        for number in 1...3 {
            try former?.note(.segmentStored(number))
            SpoolFile.remove("\(left)/\(number).mp4")
        }
        former = nil
        let recording = try #require(try Recording(recovering: left, in: environment))
        #expect(recording.book.storedCount == 3 && recording.book.openSegment == nil && recording.isIdle)
    }

    /// What a process left, and the line of a third segment that had not ended.
    private func leaveOpenSegment() throws -> SpoolFolder {
        try RecordingTests().leaveRecording(in: spool.path)
        let left = SpoolFolder(path: try #require(spool.folders.first))
        let start = SegmentStart(number: 3, map: 0, isDiscontinuous: false, isIndependent: true, date: Self.began)
        try Chronicle(recovering: left, nil)?.note(.segment(start, byteCount: 9, nanoseconds: 1_000_000_000))
        return left
    }

    /// A power cut took all lines after it: that it ended, and that it is stored.
    @Test
    func `an open segment whose file is gone is in its bucket`() throws {
        let left = try leaveOpenSegment()
        for number in 1...2 { SpoolFile.remove(left.segment(number)) }
        let recording = try #require(try Recording(recovering: left.path, in: environment))
        #expect(recording.book.storedCount == 3 && recording.book.openSegment == nil && recording.isIdle)
        #expect(recording.book.initializations.map(\.isStored) == [true] && spool.byteCount == 0)
    }

    /// A power cut took its end, and left the lines that tell of it.
    @Test
    func `a segment whose file is shorter than its lines say is left out`() throws {
        let left = try leaveOpenSegment()
        try SpoolFile(creating: left.segment(3)).append([1, 2, 3])
        var recording = try Recording(recovering: left.path, in: environment)
        #expect(recording?.book.segments.map(\.start.number) == [1, 2])
        recording = nil
        let again = try #require(try Recording(recovering: left.path, in: environment))
        #expect(again.book.segments.map(\.start.number) == [1, 2] && again.book.storedCount == 0)
    }

    /// A bucket that refuses for a moment when the gateway starts ends no recording of which it has something.
    @Test(arguments: [false, true])
    func `whether the bucket has taken something of a recording is known after a restart`(hasStored: Bool) throws {
        try RecordingTests().leaveRecording(in: spool.path)
        let left = try #require(spool.folders.first)
        if hasStored { try Chronicle(recovering: SpoolFolder(path: left), nil)?.note(.initializationStored(0)) }
        let recording = try #require(try Recording(recovering: left, in: environment))
        #expect(!recording.advance(at: Self.began))
        #expect(director.content.withLock { $0.last?.isBucketProven } == hasStored)
    }

    /// As by an operator whose bucket is gone for good.
    @Test
    func `a recording whose folder is removed from the spool ends with words`() throws {
        try RecordingTests().leaveRecording(in: spool.path)
        let left = try #require(spool.folders.first)
        let recording = try #require(try Recording(recovering: left, in: environment))
        director.content.withLock { $0.refusal = .failed("no such file") }
        #expect(!recording.advance(at: Self.began) && spool.byteCount > 0)
        spool.remove(left)
        recording.answered(.failed("no such file"))
        #expect(recording.advance(at: Self.began) && spool.byteCount == 0)
        #expect(director.content.withLock { $0.states } == [.failed("no such file")])
    }
}
