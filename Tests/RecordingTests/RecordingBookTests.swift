import HLS
import Testing
import Wire

@testable import Recording

@Suite("What is known of a recording")
struct RecordingBookTests {
    private static let began = WallTime(secondsSince1970: 1_704_110_455)

    private static func start(_ number: Int) -> SegmentStart {
        SegmentStart(number: number, map: 0, isDiscontinuous: false, isIndependent: true, date: began + .seconds(6 * number))
    }

    private static func makeBook() -> RecordingBook {
        let participant = RecordedParticipant(stageID: "stage", stageSessionID: "st-1", participantID: "alice")
        return RecordingBook(
            RecordingHeader(
                participant: participant, bucket: "b", prefix: "p", segmentDuration: 6, reconnectWindowSeconds: 0, began: began))
    }

    @Test
    func `a segment that is told twice stands once in the playlist`() {
        var book = Self.makeBook()
        for number in [1, 2, 2] {
            book.apply(.segment(Self.start(number), byteCount: 1, nanoseconds: 6_000_000_000))
            book.apply(.segmentEnded)
            book.apply(.segmentStored(number))
        }
        #expect(book.segments.count == 2 && book.storedCount == 2 && book.storedByteCount == 2)
    }

    @Test
    func `a segment that is stored is not open, whether or not a line says that it ended`() {
        var book = Self.makeBook()
        book.apply(.segment(Self.start(1), byteCount: 1, nanoseconds: 1))
        #expect(book.openSegment?.start == Self.start(1))
        book.apply(.segmentStored(1))
        #expect(book.openSegment == nil && book.storedCount == 1)
    }

    @Test
    func `a segment waits from its end until it is stored`() {
        var book = Self.makeBook()
        book.apply(.segment(Self.start(1), byteCount: 1, nanoseconds: 6_000_000_000))
        #expect(book.waitingSince == nil)
        book.apply(.segmentEnded)
        book.apply(.segment(Self.start(2), byteCount: 1, nanoseconds: 6_000_000_000))
        #expect(book.waitingSince == Self.began + .seconds(12))
        book.apply(.segmentStored(1))
        #expect(book.waitingSince == nil)
    }

    @Test
    func `what follows a segment that is lost is discontinuous, and what is stored is not lost`() {
        var book = Self.makeBook()
        for number in 1...3 { book.apply(.segment(Self.start(number), byteCount: 1, nanoseconds: 1)) }
        for entry in [JournalEntry.segmentStored(1), .segmentLost(1), .segmentLost(2), .segmentLost(7)] { book.apply(entry) }
        #expect(book.segments.map(\.start.number) == [1, 3] && book.segments.map(\.start.isDiscontinuous) == [false, true])
        #expect(book.storedCount == 1 && book.spooledByteCount == 1 && book.position.segments == 3)
    }

    /// Of what a register says, the session alone: its recording stays where and whose it is.
    @Test
    func `a recording goes on in another stage session, at its place`() throws {
        var next = Self.makeBook().header
        (next.participant.stageSessionID, next.participant.participantID, next.prefix) = ("st-2", "bob", "q")
        let entries: [JournalEntry] = [.began(Self.makeBook().header), .started, .began(next)]
        let header = try #require(RecordingBook(replaying: entries)).header
        #expect(header.participant.stageSessionID == "st-2" && header.participant.participantID == "alice")
        #expect(header.prefix == "p")
    }

    /// A browser begins small.
    @Test
    func `the greatest picture that is stored describes the rendition`() throws {
        var book = Self.makeBook()
        book.apply(.initialization(number: 0, codecs: "small", width: 320, height: 180))
        #expect(book.multivariant(isFinal: false) == nil)
        book.apply(.initializationStored(0))
        book.apply(.initialization(number: 1, codecs: "great", width: 1_280, height: 720))
        #expect(book.multivariant(isFinal: false)?.variants.map(\.codecs) == ["small"])
        book.apply(.initializationStored(1))
        book.apply(.initialization(number: 2, codecs: "medium", width: 640, height: 360))
        book.apply(.initializationStored(2))
        let variant = try #require(book.multivariant(isFinal: true)?.variants.first)
        #expect(variant.codecs == "great" && variant.resolution == MultivariantPlaylist.Resolution(width: 1_280, height: 720))
    }

    @Test
    func `sound that came before all pictures describes the rendition`() throws {
        var book = Self.makeBook()
        for (number, width) in [0, 640].enumerated() {
            book.apply(.initialization(number: number, codecs: "of \(width)", width: width, height: width / 2))
            book.apply(.initializationStored(number))
        }
        let variant = try #require(book.multivariant(isFinal: true)?.variants.first)
        #expect(variant.codecs == "of 0" && variant.resolution == nil)
    }

    @Test
    func `no rate is too great for a playlist`() throws {
        var book = Self.makeBook()
        book.apply(.initialization(number: 0, codecs: "", width: 0, height: 0))
        book.apply(.initializationStored(0))
        book.apply(.segment(Self.start(1), byteCount: 1 << 40, nanoseconds: 1))
        book.apply(.segmentEnded)
        book.apply(.segmentStored(1))
        let variant = try #require(book.multivariant(isFinal: false)?.variants.first)
        #expect(variant.peakBitsPerSecond == 1_000_000_000_000_000 && variant.averageBitsPerSecond == variant.peakBitsPerSecond)
    }

    @Test
    func `a recording that failed ended with its last part, however long its publish goes on`() {
        var book = Self.makeBook()
        book.apply(.segment(Self.start(1), byteCount: 1, nanoseconds: 2_000_000_000))
        #expect(book.summary(.active).endedAt == nil)
        book.apply(.segmentEnded)
        book.apply(.failed("403"))
        #expect(book.summary(.failed("403")).endedAt == Self.began + .seconds(8))
    }

    /// It is paused by the next start.
    @Test(arguments: [true, false])
    func `a recording that a crash cut off ended with its last part, however late the next start is`(hasFailed: Bool) {
        var book = Self.makeBook()
        book.apply(.segment(Self.start(1), byteCount: 1, nanoseconds: 2_000_000_000))
        if hasFailed { book.apply(.failed("403")) }
        book.apply(.segmentEnded)
        book.apply(.paused(since: Self.began + .seconds(3_600)))
        #expect(book.summary(.stopped).endedAt == Self.began + .seconds(8))
        book.apply(.paused(since: nil))
        #expect((book.summary(.active).endedAt == nil) != hasFailed)
    }

    /// The book counts as it goes; all segments looked through say the same.
    @Test
    func `what is stored and what is spooled are counted as they come`() {
        var book = Self.makeBook()
        book.apply(.initialization(number: 0, codecs: "", width: 0, height: 0))
        #expect(book.missing == nil && book.startedAt == nil)
        book.apply(.initializationStored(0))
        var stored = 0
        for number in 1...200 {
            book.apply(.segment(Self.start(number), byteCount: 10, nanoseconds: 1))
            book.apply(.grown(byteCount: number, nanoseconds: Int64(number) * 1_000_000))
            if number % 7 > 0 { book.apply(.segmentEnded) }
            while stored < number, book.segments[stored].isEnded, (number + stored) % 5 > 0 {
                #expect(book.missing == .segment(stored + 1))
                stored += 1
                book.apply(.segmentStored(stored))
                book.apply(.segmentStored(stored))
            }
            book.apply(.segmentEnded)
            let (whole, rest) = (book.segments.prefix { $0.isStored }, book.segments.drop { $0.isStored })
            #expect(book.storedCount == stored && whole.count == stored && book.spooledSegments.elementsEqual(rest))
            #expect(book.storedByteCount == whole.reduce(0) { $0 + $1.byteCount })
            #expect(book.storedDuration == whole.reduce(.zero) { $0 + $1.duration })
            #expect(book.spooledByteCount == rest.reduce(0) { $0 + $1.byteCount })
            let lines = book.playlist(hasEnded: false).text.split(separator: "\n").map(String.init)
            #expect(lines.filter { $0.hasSuffix(".mp4") } == whole.map { "\($0.start.number).mp4" })
        }
        #expect(stored > 150 && book.startedAt == Self.began + .seconds(6))
    }
}
