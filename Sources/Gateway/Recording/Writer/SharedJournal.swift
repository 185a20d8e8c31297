import Wire

/// A recording's part in a cluster's register: what is stored of it, for other nodes, and whether it is this node's still.
struct SharedJournal {
    private enum Standing {
        case unknown, asked, held, closed
        /// It was asked in vain: nobody answered, or what is written had not come there yet.
        case unanswered
    }

    private let register: any RecordingRegister
    private let header: RecordingHeader
    private var standing = Standing.unknown
    private var askedAt = MonotonicTime.zero
    /// Pages on their way: one that closes is asked about anew, whatever comes of the page before.
    private var awaitedCount = 0
    private var hasClosed = false
    /// What the register says; nil when nobody knows.
    private var saysRest: Bool?

    /// - Returns: nil for a recording that nobody goes on with.
    init?(_ header: RecordingHeader, _ register: (any RecordingRegister)?) {
        guard let register, header.reconnectWindowSeconds > 0 else { return nil }
        (self.register, self.header) = (register, header)
    }

    mutating func begin() {
        saysRest = false
        register.write(RegisterLine(.begins, of: header, [.began(header)]))
    }

    /// Of a recording's journal others need what is stored.
    func note(_ entry: JournalEntry, in book: RecordingBook) {
        let entries = Self.shared(entry, book)
        if !entries.isEmpty { register.write(RegisterLine(.follows, of: header, entries)) }
    }

    private static func shared(_ entry: JournalEntry, _ book: RecordingBook) -> [JournalEntry] {
        switch entry {
        case .initializationStored(let number):
            guard let map = book.initializations.first(where: { $0.number == number }) else { return [] }
            return [.initialization(number: number, codecs: map.codecs, width: map.width, height: map.height), entry]
        case .segmentStored(let number):
            guard let segment = book.segments.last(where: { $0.start.number == number }) else { return [] }
            let duration = segment.duration.nanoseconds
            return [.segment(segment.start, byteCount: segment.byteCount, nanoseconds: duration), .segmentEnded, entry]
        case .thumbnailStored(let number): return [.thumbnail(number: number, byteCount: 0), entry]
        case .began, .started, .latestThumbnailStored, .failed: return [entry]
        default: return []
        }
    }

    /// Nobody is being recorded, and everything is stored: whoever takes the recording over has all of it.
    mutating func rests(since time: WallTime?) {
        guard saysRest != (time != nil) else { return }
        saysRest = time != nil
        register.write(RegisterLine(.follows, of: header, [.paused(since: time)]))
    }

    // MARK: - Whose it is

    /// Whether the next thing may be stored, of a recording that nobody feeds here: another node may have it by now.
    /// - Parameters:
    ///   - isOver: nobody goes on with it after this.
    ///   - ask: has the register read, whose page comes as `read`; one that could not say is left alone for a moment.
    mutating func permits(isOver: Bool, at now: MonotonicTime, ask: () -> Void) -> Bool {
        if isOver, !hasClosed {
            (hasClosed, standing) = (true, .unknown)
            register.write(RegisterLine(.closes, of: header, []))
        }
        switch standing {
        case .closed: return true
        case .held:
            standing = .unknown
            return true
        case .asked: return false
        case .unanswered where now - askedAt < Self.pause: return false
        case .unknown, .unanswered:
            (standing, askedAt) = (.asked, now)
            awaitedCount += 1
            ask()
            return false
        }
    }

    /// An object of a recording that nobody feeds here is on its way, for hours if its bucket is away: meanwhile the register is
    /// asked whose the recording is.
    mutating func watch(at now: MonotonicTime, ask: () -> Void) {
        // It says nothing of what is stored after that.
        if standing == .held { standing = .unknown }
        guard standing != .closed, !isAsked, now - askedAt >= Self.watchPause else { return }
        askedAt = now
        awaitedCount += 1
        ask()
    }

    /// A page is on its way.
    var isAsked: Bool { awaitedCount > 0 }

    /// A page came that says nothing: meanwhile the participant came back, or the recording has gone.
    mutating func passOver() {
        awaitedCount = max(0, awaitedCount - 1)
        if standing == .asked, !isAsked { standing = .unknown }
    }

    /// - Returns: false when it is another node's.
    mutating func read(_ page: Result<RegisterPage?, any Error>) -> Bool {
        awaitedCount = max(0, awaitedCount - 1)
        standing = .unanswered
        guard case .success(let page) = page else { return true }
        if let page, page.node != register.node { return false }
        // What is written comes after what was asked: until it is there, it is asked again.
        if page?.isClosed ?? hasClosed { standing = .closed } else if !hasClosed { standing = .held }
        return true
    }

    /// Between two questions to a register that could not say.
    private static let pause = Duration.milliseconds(500)
    /// While something is on its way to a bucket, which may take hours.
    private static let watchPause = Duration.seconds(10)
}
