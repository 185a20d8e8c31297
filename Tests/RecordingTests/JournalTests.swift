import Foundation
import TestSupport
import Testing
import Wire

@testable import Recording

@Suite("Journal")
struct JournalTests {
    private static let header: RecordingHeader = {
        var header = RecordingHeader(
            participant: RecordedParticipant(stageID: "s", stageSessionID: "ss", participantID: "p \"\\\n\u{1F3AC}"), bucket: "b",
            prefix: "s/ss/p/2024-01-01T12-00-55Z", segmentDuration: 6, reconnectWindowSeconds: 60,
            began: WallTime(secondsSince1970: 1_704_110_455))
        header.media = .audioAndVideo
        header.thumbnails = RecordingPlan.Thumbnails(interval: 60, keepsAll: true, keepsLatest: false)
        return header
    }()

    private static func start(_ isDiscontinuous: Bool, _ isIndependent: Bool) -> SegmentStart {
        SegmentStart(
            number: 7, map: 2, isDiscontinuous: isDiscontinuous, isIndependent: isIndependent,
            date: WallTime(nanosecondsSince1970: 1_704_110_455_123_456_789))
    }

    private static let entries: [JournalEntry] = [
        .began(header), .initialization(number: 0, codecs: "avc1.42c00d,mp4a.40.2", width: 320, height: 180),
        .segment(start(false, true), byteCount: 1, nanoseconds: 0),
        .segment(start(true, false), byteCount: 1 << 40, nanoseconds: 600_000_000_000),
        .grown(byteCount: 0, nanoseconds: -1_000_000_000), .grown(byteCount: 1_234_567, nanoseconds: 5_999_999_999),
        .segmentEnded,
        .initializationStored(0), .segmentStored(1), .segmentStored(14_400), .segmentLost(2), .thumbnail(number: 1, byteCount: 2),
        .thumbnailStored(1), .thumbnailLost(1), .latestThumbnailStored, .started, .paused(since: nil),
        .paused(since: WallTime(secondsSince1970: 1_704_110_455)), .takenOver, .failed("No \"space\"\nleft"), .lossTold,
        .closed,
    ]

    /// Those that an encoder writes, and those that are written without one.
    @Test
    func `every entry is read as it was written`() throws {
        let folder = try TemporaryDirectory()
        let journal = try Journal(in: folder.path)
        for entry in Self.entries { try journal.append(entry) }
        #expect(try journal.recover() == Self.entries)
    }

    /// But for the order of its members, which an encoder does not promise.
    @Test
    func `what is written without an encoder is what one would write`() throws {
        let plain = Self.entries.filter { $0.plainText != nil }
        #expect(plain.count == 7)
        for entry in plain { #expect(try JSONEncoder().encode(entry).sorted() == entry.plainText?.utf8.sorted()) }
    }

    /// Lines behind half a line would be lost with it.
    @Test(.enabled(if: Privileges.mounts, "mounts a file system, which needs root"))
    func `a journal on a full disk has whole lines`() throws {
        let folder = try TemporaryDirectory()
        try #require(mount("tmpfs", folder.path, "tmpfs", 0, "size=8k") == 0)
        defer { umount2(folder.path, CInt(MNT_DETACH)) }
        let journal = try Journal(in: folder.path)
        let entry = JournalEntry.failed(String(repeating: "a", count: 1_000))
        var written = 0
        #expect(throws: SpoolError.self) {
            for _ in 0..<100 {
                try journal.append(entry)
                written += 1
            }
        }
        try journal.append(.closed)
        #expect(written > 0)
        #expect(try journal.recover() == Array(repeating: entry, count: written) + [.closed])
    }

    @Test
    func `what a later version wrote is passed over where it may be, and else is the end`() throws {
        let folder = try TemporaryDirectory()
        let lines = [
            #"{"started":{},"ignorable":true}"#, #"{"later":{"_0":1},"ignorable":true}"#, #"{"segmentEnded":{}}"#,
            #"{"later":{},"ignorable":false}"#, #"{"closed":{}}"#,
        ]
        try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: URL(filePath: folder.path + "/journal"))
        let journal = try Journal(in: folder.path)
        #expect(try journal.recover() == [.started, .segmentEnded])
        try journal.append(.takenOver)
        #expect(try journal.recover() == [.started, .segmentEnded, .takenOver])
    }

    @Test
    func `a journal's line that no recording has is left out`() throws {
        let folder = try TemporaryDirectory()
        let journal = try Journal(in: folder.path)
        for entry in [JournalEntry.started, .grown(byteCount: .max, nanoseconds: 1), .closed] { try journal.append(entry) }
        #expect(try journal.recover() == [.started, .closed])
    }
}
