import GatewayMetrics
import TestSupport
import Testing
import Wire

@testable import Recording

@Suite("Recordings that a former process left")
struct RecoveringTests {
    private static let began = WallTime(secondsSince1970: 1_704_110_455)

    private let folder: TemporaryDirectory
    private let spool: Spool

    init() throws {
        folder = try TemporaryDirectory()
        spool = try Spool(path: folder.path + "/spool", maximumByteCount: 1 << 20)
    }

    private var environment: Recording.Environment {
        Recording.Environment(
            spool: spool, director: MemoryDirector(), metrics: RecordingMetrics(MetricsRegistry()),
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
}
