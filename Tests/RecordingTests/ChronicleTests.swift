import TestSupport
import Testing
import Wire

@testable import Recording

@Suite("What is known of a recording, wherever it stands")
struct ChronicleTests {
    private let directory: TemporaryDirectory
    private var folder: SpoolFolder { SpoolFolder(path: directory.path) }

    init() throws { directory = try TemporaryDirectory() }

    private func chronicle() throws -> Chronicle {
        let participant = RecordedParticipant(stageID: "stage", stageSessionID: "st-1", participantID: "alice")
        let header = RecordingHeader(
            participant: participant, bucket: "b", prefix: "p", segmentDuration: 6, reconnectWindowSeconds: 0,
            began: WallTime(secondsSince1970: 1_704_110_455))
        return try Chronicle(header, in: folder, nil)
    }

    @Test
    func `the next process knows what was noted, and how it failed`() throws {
        let date = WallTime(secondsSince1970: 1_704_110_455)
        let start = SegmentStart(number: 1, map: 0, isDiscontinuous: false, isIndependent: true, date: date)
        var former: Chronicle? = try chronicle()
        try former?.note(.segment(start, byteCount: 9, nanoseconds: 1))
        #expect(former?.book.openSegment?.start == start)
        former?.fail("full")
        #expect(former?.book.openSegment == nil && former?.book.failure == "full")
        former = nil
        let next = try #require(try Chronicle(recovering: folder, nil))
        #expect(next.book.segments.map(\.start) == [start] && next.book.openSegment == nil && next.book.failure == "full")
    }

    @Test
    func `a closed recording is none`() throws {
        var former: Chronicle? = try chronicle()
        try former?.note(.closed)
        former = nil
        let next = try Chronicle(recovering: folder, nil)
        #expect(next == nil)
    }

    /// A process whose place we take has closed it since we looked.
    @Test
    func `a folder that is gone has no recording`() throws {
        let next = try Chronicle(recovering: SpoolFolder(path: directory.path + "/gone"), nil)
        #expect(next == nil)
    }
}
