import EventLoop
import Testing
import Wire

@testable import Recording

@Suite("Whether a publish goes on with another node's recording")
struct ResumptionTests {
    private static let began = WallTime(secondsSince1970: 1_704_110_455)
    private static let participant = RecordedParticipant(stageID: "stage", stageSessionID: "st-1", participantID: "alice")

    private static func entries(bucket: String = "b", _ more: [JournalEntry] = []) -> [JournalEntry] {
        let header = RecordingHeader(
            participant: participant, bucket: bucket, prefix: "p", segmentDuration: 2, reconnectWindowSeconds: 30, began: began)
        let start = SegmentStart(number: 41, map: 0, isDiscontinuous: false, isIndependent: true, date: began + .seconds(80))
        return [
            .began(header), .initialization(number: 0, codecs: "", width: 0, height: 0),
            .segment(start, byteCount: 9, nanoseconds: 2_000_000_000), .segmentEnded, .segmentStored(41),
        ] + more
    }

    private static func page(by node: String, isClosed: Bool = false, _ entries: [JournalEntry] = entries()) -> RegisterPage {
        guard case .began(let header) = entries[0] else { return RegisterPage(node: node, isClosed: isClosed, texts: []) }
        let texts = entries.map { RegisterLine(.follows, of: header, [$0]).text }
        return RegisterPage(node: node, isClosed: isClosed, texts: texts)
    }

    /// What the register says, seconds after the last that is known of it (its last segment's end),
    /// milliseconds since the publish.
    @Test(arguments: [
        (nil, 0, 0, Resumption.Step.beginAnew),
        (page(by: "a", isClosed: true), 0, 0, .beginAnew),
        (page(by: "a", entries(bucket: "other")), 0, 0, .beginAnew),
        (page(by: "a", entries([.failed("full")])), 0, 0, .beginAnew),
        // It may live: it is waited for, and not for ever.
        (page(by: "a"), 0, 0, .askAgain), (page(by: "a"), 0, 1_999, .askAgain), (page(by: "a"), 0, 2_000, .takeOver),
        (page(by: "a"), 0, 4_000, .beginAnew),
        // It says that it has stored everything.
        (page(by: "a", entries([.paused(since: began + .seconds(82))])), 0, 0, .takeOver),
        (page(by: "a", entries([.paused(since: began + .seconds(82))])), 29, 0, .takeOver),
        (page(by: "a", entries([.paused(since: began + .seconds(82))])), 30, 0, .beginAnew),
        // Of one that was killed nobody knows for how long it lived on.
        (page(by: "a"), 33, 2_000, .takeOver), (page(by: "a"), 34, 2_000, .beginAnew),
        (page(by: "b"), 0, 0, .goOn(entries())),
    ])
    func `follows from the register and the time`(page: RegisterPage?, seconds: Int, waited: Int, step: Resumption.Step) {
        var plan = RecordingPlan(bucket: "b")
        plan.reconnectWindow = .seconds(30)
        let resumption = Resumption(participant: Self.participant, plan: plan, node: "b")
        let now = Self.began + .seconds(82 + seconds)
        #expect(resumption.step(page, waited: .milliseconds(waited), now: now) == step)
    }

    /// What was written lands sooner or later, and the other node stops: whoever began anew would leave it without an end.
    @Test(arguments: [(nil, 2_100), (page(by: "a"), 4_000), (nil, 4_000)] as [(RegisterPage?, Int)])
    func `what was taken over is gone on with where nobody confirms it`(page: RegisterPage?, waited: Int) {
        var plan = RecordingPlan(bucket: "b")
        plan.reconnectWindow = .seconds(30)
        let resumption = Resumption(participant: Self.participant, plan: plan, node: "b")
        let step = resumption.step(page, taken: Self.entries(), waited: .milliseconds(waited), now: Self.began + .seconds(82))
        #expect(step == .goOn(Self.entries([.takenOver])))
    }

    @Test
    func `numbers leave room for what the other node may still store`() throws {
        let book = try #require(RecordingBook(replaying: Self.entries([.takenOver])))
        #expect(book.position == .init(initializations: 1_000, segments: 1_000, duration: .seconds(2)))
        #expect(try #require(RecordingBook(replaying: Self.entries())).position.segments == 41)
    }

    private static func start(_ number: Int, map: Int = 0, at date: WallTime = began) -> SegmentStart {
        SegmentStart(number: number, map: map, isDiscontinuous: false, isIndependent: true, date: date)
    }

    /// Numbers that end a process where they are added to others.
    @Test(
        arguments: [
            .initialization(number: .max, codecs: "", width: 0, height: 0),
            .initialization(number: 1, codecs: "", width: .max, height: .max),
            .segment(start(.max), byteCount: 9, nanoseconds: 1), .segment(start(42, map: .max), byteCount: 9, nanoseconds: 1),
            .segment(start(42, at: WallTime(nanosecondsSince1970: .max)), byteCount: 9, nanoseconds: 1),
            .segment(start(42), byteCount: .max, nanoseconds: 1), .segment(start(42), byteCount: 9, nanoseconds: .max),
            .grown(byteCount: .max, nanoseconds: 1), .grown(byteCount: 9, nanoseconds: .min),
            .thumbnail(number: .max, byteCount: 9), .thumbnail(number: 1, byteCount: .max),
            .paused(since: WallTime(nanosecondsSince1970: .min)),
        ] as [JournalEntry])
    func `a register's word that no recording has is left out`(_ entry: JournalEntry) {
        var plan = RecordingPlan(bucket: "b")
        plan.reconnectWindow = .seconds(30)
        let resumption = Resumption(participant: Self.participant, plan: plan, node: "b")
        let page = Self.page(by: "b", Self.entries([entry]))
        #expect(resumption.step(page, waited: .zero, now: Self.began + .seconds(82)) == .goOn(Self.entries()))
    }

    @Test(
        arguments: [(WallTime(nanosecondsSince1970: .min), 2, 30), (began, .max, 30), (began, 2, .max)] as [(WallTime, Int, Int)])
    func `nobody goes on with what no recording begins with`(_ began: WallTime, _ segment: Int, _ window: Int) {
        let header = RecordingHeader(
            participant: Self.participant, bucket: "b", prefix: "p", segmentDuration: segment, reconnectWindowSeconds: window,
            began: began)
        var plan = RecordingPlan(bucket: "b")
        plan.reconnectWindow = .seconds(window)
        let resumption = Resumption(participant: Self.participant, plan: plan, node: "b")
        let page = Self.page(by: "b", [.began(header)])
        #expect(resumption.step(page, waited: .zero, now: Self.began) == .beginAnew)
    }
}

@Suite("A recording that other nodes know of")
struct SharedJournalTests {
    /// One that keeps what is written.
    private final class Register: RecordingRegister {
        let node = "a"
        let lines = Lock<[RegisterLine]>([])

        func write(_ line: RegisterLine) { lines.withLock { $0.append(line) } }
        func read(
            _: RecordedParticipant, prefix: String?, then: @escaping @Sendable (Result<RegisterPage?, any Error>) -> Void
        ) {}
    }

    /// A journal, and how often the register was asked for it.
    private final class Asked {
        var journal: SharedJournal
        var count = 0
        var now = MonotonicTime.zero

        init(_ journal: SharedJournal) { self.journal = journal }

        func permits(isOver: Bool = false) -> Bool { journal.permits(isOver: isOver, at: now) { count += 1 } }
        func watch() { journal.watch(at: now) { count += 1 } }
        func reads(_ page: Result<RegisterPage?, any Error>) -> Bool { journal.read(page) }
    }

    private let register = Register()

    private func makeJournal(window: Int = 30) -> SharedJournal? {
        let participant = RecordedParticipant(stageID: "stage", stageSessionID: "st-1", participantID: "alice")
        let header = RecordingHeader(
            participant: participant, bucket: "b", prefix: "p", segmentDuration: 2, reconnectWindowSeconds: window,
            began: WallTime(secondsSince1970: 1))
        return SharedJournal(header, register)
    }

    private static func page(_ node: String, isClosed: Bool = false) -> Result<RegisterPage?, any Error> {
        .success(RegisterPage(node: node, isClosed: isClosed, texts: []))
    }

    @Test
    func `is asked for before each thing that is stored, and goes when another node has it`() throws {
        let journal = Asked(try #require(makeJournal()))
        for _ in 0..<3 {
            #expect(!journal.permits())
            #expect(!journal.permits(), "an answer is on its way")
            #expect(journal.reads(Self.page("a")))
            #expect(journal.permits())
        }
        #expect(journal.count == 3)
        #expect(!journal.permits())
        #expect(!journal.reads(Self.page("b")))
    }

    @Test
    func `is asked for now and then while something is on its way, which permits nothing`() throws {
        let journal = Asked(try #require(makeJournal()))
        for turn in 1...3 {
            journal.now = .zero + .seconds(10 * turn)
            for _ in 0..<2 { journal.watch() }
            #expect(journal.count == turn)
            #expect(journal.reads(Self.page("a")))
            journal.watch()
        }
        #expect(!journal.permits() && journal.count == 4)
        #expect(!journal.reads(Self.page("b")))
    }

    @Test
    func `is asked for again where a page came that says nothing`() throws {
        let journal = Asked(try #require(makeJournal()))
        #expect(!journal.permits() && journal.journal.isAsked)
        journal.journal.passOver()
        #expect(!journal.journal.isAsked && !journal.permits() && journal.count == 2)
        #expect(journal.reads(Self.page("a")))
        journal.journal.passOver()
        #expect(journal.permits(), "what is known stays so")
    }

    @Test
    func `is awaited until every page has come, also the one that closing overtook`() throws {
        let journal = Asked(try #require(makeJournal()))
        #expect(!journal.permits() && !journal.permits(isOver: true) && journal.count == 2)
        #expect(!journal.reads(Self.page("b")))
        #expect(journal.journal.isAsked)
        journal.journal.passOver()
        #expect(!journal.journal.isAsked)
    }

    @Test
    func `is closed before it is ended, which one node alone can do`() throws {
        let journal = Asked(try #require(makeJournal()))
        #expect(!journal.permits(isOver: true))
        #expect(register.lines.withLock { $0.map(\.kind) } == [.closes])
        // What was asked came before what was written.
        #expect(journal.reads(Self.page("a")))
        #expect(!journal.permits(isOver: true) && journal.count == 1, "a moment later")
        journal.now = .zero + .milliseconds(500)
        #expect(!journal.permits(isOver: true) && journal.count == 2)
        #expect(journal.reads(Self.page("a", isClosed: true)))
        for _ in 0..<3 { #expect(journal.permits(isOver: true)) }
        #expect(register.lines.withLock { $0.count } == 1)

        let late = Asked(try #require(makeJournal()))
        #expect(!late.permits(isOver: true))
        #expect(!late.reads(Self.page("b", isClosed: true)))
    }

    @Test
    func `waits while nobody can say whose it is, and is not shared without a window`() throws {
        let journal = Asked(try #require(makeJournal()))
        #expect(!journal.permits(isOver: true))
        #expect(journal.reads(.failure(CancellationError())))
        for millisecond in 0..<1_000 {
            journal.now = .zero + .milliseconds(millisecond)
            #expect(!journal.permits(isOver: true))
            if journal.count == 2 { _ = journal.reads(.failure(CancellationError())) }
        }
        #expect(journal.count == 2, "twice a second")
        #expect(makeJournal(window: 0) == nil)
    }
}
