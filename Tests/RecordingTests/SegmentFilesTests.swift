import Foundation
import MP4
import TestSupport
import Testing
import Wire

@testable import Recording

@Suite("Files of segments")
struct SegmentFilesTests {
    private static let start = SegmentStart(
        number: 7, map: 0, isDiscontinuous: false, isIndependent: true, date: WallTime(secondsSince1970: 1_704_110_455))

    private let directory: TemporaryDirectory
    private var folder: SpoolFolder { SpoolFolder(path: directory.path) }

    init() throws { directory = try TemporaryDirectory() }

    /// Of one picture.
    private static func fragment(_ bytes: [UInt8]) -> Fragment {
        var run = Fragment.Run(trackID: 1, decodeTime: 0)
        run.append(Fragment.Sample(duration: 3_000, byteCount: bytes.count), bytes)
        var fragment = Fragment(sequenceNumber: 1)
        fragment.runs = [run]
        return fragment
    }

    private static func bytes(_ fragments: Fragment...) -> [UInt8] {
        fragments.reduce(into: Fragment.segmentType) { bytes, fragment in bytes += fragment.parts.joined() }
    }

    @Test
    func `a segment is noted with its first part, and grows with the others`() throws {
        let spool = try Spool(path: directory.path, maximumByteCount: 1 << 20)
        let (one, two) = (Self.fragment([1, 2, 3]), Self.fragment([4]))
        let (first, whole) = (Self.bytes(one), Self.bytes(one, two))
        var files = SegmentFiles(in: folder, SpoolShare(spool: spool, bucket: "b"))
        try files.begin(Self.start)
        let began = try files.append(one, .seconds(1))
        let grew = try files.append(two, .seconds(2))
        try files.end()
        let isLate = try files.append(two, .seconds(3)) != nil
        #expect(began?.entry == .segment(Self.start, byteCount: first.count, nanoseconds: 1_000_000_000))
        #expect(grew?.entry == .grown(byteCount: whole.count, nanoseconds: 2_000_000_000))
        #expect(began?.byteCount == first.count && grew?.byteCount == whole.count - first.count && !isLate)
        #expect(FileManager.default.contents(atPath: folder.segment(7)) == Data(whole))
        #expect(spool.byteCount == whole.count)
    }

    @Test
    func `a full spool takes nothing of a part, and what nobody knows of is cut off`() throws {
        let (one, two) = (Self.fragment([1, 2, 3]), Self.fragment([4]))
        let (first, whole) = (Self.bytes(one), Self.bytes(one, two))
        let spool = try Spool(path: directory.path, maximumByteCount: Spool.size(forOneBucketOf: whole.count))
        var files = SegmentFiles(in: folder, SpoolShare(spool: spool, bucket: "b"))
        try files.begin(Self.start)
        _ = try files.append(one, .seconds(1))
        _ = try files.append(two, .seconds(2))
        #expect(throws: SpoolError.self) { _ = try files.append(two, .seconds(3)) }
        #expect(spool.byteCount == whole.count)
        try files.breakOff(RecordingBook.Segment(start: Self.start, byteCount: first.count, duration: .seconds(1)))
        let isLate = try files.append(two, .seconds(2)) != nil
        #expect(!isLate)
        #expect(FileManager.default.contents(atPath: folder.segment(7)) == Data(first))
        #expect(spool.byteCount == first.count)
    }

    @Test
    func `a segment that nobody knows of leaves nothing behind`() throws {
        let spool = try Spool(path: directory.path, maximumByteCount: 1 << 20)
        var files = SegmentFiles(in: folder, SpoolShare(spool: spool, bucket: "b"))
        try files.begin(Self.start)
        _ = try files.append(Self.fragment([1, 2, 3]), .seconds(1))
        try files.breakOff(nil)
        #expect(spool.byteCount == 0 && !FileManager.default.fileExists(atPath: folder.segment(7)))
    }
}
