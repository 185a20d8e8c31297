import GatewayMetrics
import MP4
import TestSupport
import Testing
import Wire

@testable import Recording

@Suite("Segments on their way into the spool")
struct SegmentWriterTests {
    private static let began = WallTime(secondsSince1970: 1_704_110_455)

    /// A recording's segments, in a spool of their own; a fault ends it as its recording would.
    private final class Bench {
        let chronicle: Chronicle
        let folder: SpoolFolder
        let spool: Spool
        private(set) var faults: [String] = []
        private let directory: TemporaryDirectory
        private(set) lazy var writer = SegmentWriter(
            of: chronicle, in: folder, SpoolShare(spool: spool, bucket: "b"),
            Recording.Environment(
                spool: spool, director: MemoryDirector(), metrics: RecordingMetrics(MetricsRegistry()),
                clocks: { (MonotonicTime(nanoseconds: 1), SegmentWriterTests.began) }, makeAnswer: { _ in { _ in } },
                makePicture: { _, _ in false }, latest: LatestThumbnails()),
            fail: { [unowned self] reason in
                faults.append(reason)
                chronicle.fail(reason)
            })

        init(maximumByteCount: Int = 1 << 20) throws {
            directory = try TemporaryDirectory()
            spool = try Spool(path: directory.path + "/spool", maximumByteCount: maximumByteCount)
            folder = SpoolFolder(path: try spool.makeFolder("r"))
            let participant = RecordedParticipant(stageID: "stage", stageSessionID: "st-1", participantID: "alice")
            let header = RecordingHeader(
                participant: participant, bucket: "b", prefix: "p", segmentDuration: 2, reconnectWindowSeconds: 0, began: began)
            chronicle = try Chronicle(header, in: folder, nil)
        }

        var book: RecordingBook { chronicle.book }

        func takePublish() {
            let machine = SegmentMachine(target: .seconds(2), expectsVideo: true, continuing: book.position)
            let media = EncoderMedia(machine, tracksShareClock: true)
            writer.carryOut(media.take(RecordingTests.block(seconds: 5, firstNumber: 0)), of: media)
            writer.carryOut(media.finish(), of: media)
        }

        /// What a former process wrote: four bytes by its lines.
        func leaveSegment(_ number: Int, hasEnded: Bool, bytes: [UInt8]?) throws {
            let start = SegmentStart(number: number, map: 0, isDiscontinuous: false, isIndependent: true, date: began)
            try chronicle.note(.segment(start, byteCount: 4, nanoseconds: 1_000_000_000))
            if hasEnded { try chronicle.note(.segmentEnded) }
            if let bytes { try SpoolFile(creating: folder.segment(number)).append(bytes) }
        }
    }

    @Test
    func `what the lines say of a publish lies in its files`() throws {
        let bench = try Bench()
        bench.takePublish()
        let segments = bench.book.segments
        try #require(segments.count >= 2)
        #expect(bench.faults.isEmpty && segments.allSatisfy(\.isEnded))
        #expect(segments.map(\.start.number) == Array(1...segments.count))
        for segment in segments {
            #expect(SpoolFile.byteCount(of: bench.folder.segment(segment.start.number)) == segment.byteCount)
        }
        #expect(!SpoolFile.isGone(bench.folder.initialization(0)))
        #expect(bench.spool.byteCount == bench.book.spooledByteCount)
    }

    @Test
    func `what the spool refuses is told once, and nothing is written after it`() throws {
        let bench = try Bench(maximumByteCount: 1)
        bench.takePublish()
        #expect(bench.faults.count == 1 && bench.faults.allSatisfy { $0.contains("recording.spool") })
        #expect(bench.book.segments.isEmpty)
        try bench.writer.breakOff()
        #expect(SpoolFile.isGone(bench.folder.segment(1)) && bench.spool.byteCount == 0)
    }

    @Test
    func `after a crash each segment is what its file shows`() throws {
        let bench = try Bench()
        try bench.chronicle.note(.initialization(number: 0, codecs: "avc1.42c01f", width: 1_280, height: 720))
        try bench.leaveSegment(1, hasEnded: true, bytes: nil)
        try bench.leaveSegment(2, hasEnded: true, bytes: [1, 2])
        try bench.leaveSegment(3, hasEnded: true, bytes: [1, 2, 3, 4])
        try bench.leaveSegment(4, hasEnded: false, bytes: [1, 2, 3, 4, 5, 6])
        try bench.writer.recover()
        #expect(bench.book.segments.map(\.start.number) == [1, 3, 4], "the one that is too short is lost")
        #expect(bench.book.segments.map(\.isStored) == [true, false, false], "the one that is gone is in its bucket")
        #expect(bench.book.segments.allSatisfy(\.isEnded) && bench.book.segments[1].start.isDiscontinuous)
        #expect(bench.book.initializations.map(\.isStored) == [true])
        #expect(SpoolFile.byteCount(of: bench.folder.segment(4)) == 4, "what no line tells of is cut off")
    }
}
