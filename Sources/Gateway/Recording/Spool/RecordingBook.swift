import HLS
import Wire

/// All that is known of a recording, by its journal: written while it runs, and read again after a crash. A value.
struct RecordingBook {
    struct Segment: Equatable {
        var start: SegmentStart
        var byteCount: Int
        var duration: Duration
        var isEnded = false
        var isStored = false
    }

    struct Initialization: Equatable {
        var number: Int
        var codecs: String
        var width: Int
        var height: Int
        var isStored = false
    }

    /// One that is not stored yet.
    struct Thumbnail: Equatable {
        var number: Int
        var byteCount: Int
    }

    /// A file that is stored next.
    enum Missing: Equatable {
        case initialization(Int)
        case segment(Int)
    }

    private(set) var header: RecordingHeader
    private(set) var initializations: [Initialization] = []
    private(set) var segments: [Segment] = []
    /// How many of them are stored, from the first on, and what those are together: a day's recording has 14,400, and is asked
    /// about all the time.
    private(set) var storedCount = 0
    private(set) var storedDuration = Duration.zero
    private(set) var storedByteCount = 0
    private var storedPlaylist: MediaPlaylist
    /// Numbered from 1.
    private(set) var thumbnailCount = 0
    private(set) var waitingThumbnails: [Thumbnail] = []
    private(set) var hasStoredThumbnail = false
    private(set) var hasStarted = false
    private(set) var pausedSince: WallTime?
    private(set) var failure: String?
    private(set) var isLossTold = false
    private(set) var isClosed = false
    /// The number after which a node goes on that has taken the recording over; 0 where none has.
    private var room = 0

    init(_ header: RecordingHeader) {
        self.header = header
        storedPlaylist = MediaPlaylist(plannedTargetDuration: 2 * header.segmentDuration)
    }

    /// Reads a journal; nil when it does not begin with a recording.
    init?(replaying entries: some Sequence<JournalEntry>) {
        var book: RecordingBook?
        for entry in entries {
            if book == nil, case .began(let header) = entry { book = RecordingBook(header) } else { book?.apply(entry) }
        }
        guard let book else { return nil }
        self = book
    }

    mutating func apply(_ entry: JournalEntry) {
        switch entry {
        case .began(let next): header.participant.stageSessionID = next.participant.stageSessionID
        case .initialization(let number, let codecs, let width, let height):
            initializations.append(Initialization(number: number, codecs: codecs, width: width, height: height))
        // A register may be told twice: numbers rise.
        case .segment(let start, _, _) where start.number <= segments.last?.start.number ?? 0: break
        case .segment(let start, let byteCount, let nanoseconds):
            segments.append(Segment(start: start, byteCount: byteCount, duration: .nanoseconds(nanoseconds)))
        case .grown(let byteCount, let nanoseconds):
            changeLast { ($0.byteCount, $0.duration) = (byteCount, .nanoseconds(nanoseconds)) }
        case .segmentEnded: changeLast { $0.isEnded = true }
        case .initializationStored(let number):
            if let index = initializations.lastIndex(where: { $0.number == number }) { initializations[index].isStored = true }
        case .segmentStored(let number):
            if let index = spooledSegments.firstIndex(where: { $0.start.number == number }) { segments[index].isStored = true }
            countStored()
        case .segmentLost(let number): removeSegment(number)
        case .thumbnail(let number, let byteCount):
            thumbnailCount = number
            waitingThumbnails.append(Thumbnail(number: number, byteCount: byteCount))
        case .thumbnailStored(let number):
            hasStoredThumbnail = true
            waitingThumbnails.removeAll { $0.number == number }
        case .thumbnailLost(let number): waitingThumbnails.removeAll { $0.number == number }
        case .latestThumbnailStored: hasStoredThumbnail = true
        case .started: hasStarted = true
        case .paused(let since): pausedSince = since
        case .takenOver: room = ((segments.last?.start.number ?? 0) / Self.roomForFormer + 1) * Self.roomForFormer
        case .failed(let reason): failure = failure ?? reason
        case .lossTold: isLossTold = true
        case .closed: isClosed = true
        }
    }

    private mutating func countStored() {
        while storedCount < segments.count, segments[storedCount].isStored {
            let segment = segments[storedCount]
            storedDuration += segment.duration
            storedByteCount += segment.byteCount
            storedPlaylist.append(segment.inPlaylist)
            storedCount += 1
        }
    }

    /// What comes after it does not go on with what was before it.
    private mutating func removeSegment(_ number: Int) {
        guard let index = spooledSegments.firstIndex(where: { $0.start.number == number && !$0.isStored }) else { return }
        segments.remove(at: index)
        if index < segments.count { segments[index].start.isDiscontinuous = true }
        countStored()
    }

    private mutating func changeLast(_ change: (inout Segment) -> Void) {
        if !segments.isEmpty { change(&segments[segments.count - 1]) }
    }

    // MARK: - What follows from it

    /// Where the next encoder goes on.
    var position: SegmentMachine.Position {
        SegmentMachine.Position(
            initializations: max((initializations.last?.number ?? -1) + 1, room),
            segments: max(segments.last?.start.number ?? 0, room), duration: segments.reduce(.zero) { $0 + $1.duration })
    }

    /// When it was certainly recorded, or its publish ended.
    var lastHeard: WallTime { pausedSince ?? lastRecorded ?? header.began }

    /// Where its last segment ends; nil where there is none.
    private var lastRecorded: WallTime? { segments.last.map { $0.start.date + $0.duration } }

    /// The start after a crash pauses a recording long after its end.
    private var endedAt: WallTime? { pausedSince == nil && failure == nil ? nil : lastRecorded ?? lastHeard }

    private var storedSegments: ArraySlice<Segment> { segments[..<storedCount] }

    /// Those that lie in the spool still. Segments are stored in their order.
    var spooledSegments: ArraySlice<Segment> { segments[storedCount...] }

    /// The last one, while it grows. One that is stored has ended: a full disk may have had no room for the line that says so.
    var openSegment: Segment? { segments.last.flatMap { $0.isEnded || $0.isStored ? nil : $0 } }

    /// Whether its bucket has taken anything of it: each segment's initialization comes before it.
    var hasStored: Bool { initializations.contains(where: \.isStored) || hasStoredThumbnail }

    /// Bytes that lie in the spool still.
    var spooledByteCount: Int {
        spooledSegments.reduce(0) { $0 + $1.byteCount } + waitingThumbnails.reduce(0) { $0 + $1.byteCount }
    }

    /// When the first of what is stored was; nil while nothing is.
    var startedAt: WallTime? { storedSegments.first?.start.date ?? (hasStoredThumbnail ? header.began : nil) }

    /// What of the segments is stored next, a segment's initialization before it; nil while the next one still grows.
    var missing: Missing? {
        guard let segment = spooledSegments.first, segment.isEnded else { return nil }
        let map = initializations.last { $0.number == segment.start.map }
        return map?.isStored == false ? .initialization(segment.start.map) : .segment(segment.start.number)
    }

    /// Whether something lies in the spool that can be stored.
    var isWaiting: Bool { missing != nil || !waitingThumbnails.isEmpty }

    /// Since when the oldest of the segments that can be stored has waited; nil where none does.
    var waitingSince: WallTime? {
        spooledSegments.first.flatMap { $0.isEnded ? $0.start.date + $0.duration : nil }
    }

    /// The recording as others see it. A bucket that refused it may hear of a failure a day later, of a publish that goes on.
    func summary(_ state: RecordingSummary.State) -> RecordingSummary {
        RecordingSummary(
            participant: header.participant, bucket: header.bucket, prefix: header.prefix, state: state, hasStarted: hasStarted,
            startedAt: startedAt, endedAt: endedAt, duration: storedDuration, byteCount: storedByteCount,
            media: header.media ?? .audioAndVideo, thumbnails: header.thumbnails)
    }

    /// What others hear when it is concluded to be in that state.
    func publicState(of state: OutputMachine.State) -> RecordingSummary.State {
        switch state {
        case .active: .active
        case .over: failure.map { .failed($0) } ?? .stopped
        }
    }

    /// The rendition's playlist, of what is stored.
    func playlist(hasEnded: Bool) -> MediaPlaylist {
        var playlist = storedPlaylist
        playlist.hasEnded = hasEnded
        return playlist
    }

    /// - Parameter isFinal: while a recording runs its peak is not known: a quarter more than the greatest so far is said.
    func multivariant(isFinal: Bool) -> MultivariantPlaylist? {
        guard let shown else { return nil }
        let rates = storedSegments.filter { $0.duration > .zero }.map { Double(8 * $0.byteCount) / $0.duration.inSeconds }
        let (peak, seconds) = (rates.max() ?? 0, storedDuration.inSeconds)
        let average = seconds > 0 ? Double(8 * storedByteCount) / seconds : 0
        return MultivariantPlaylist(variants: [
            MultivariantPlaylist.Variant(
                uri: "high/playlist.m3u8", peakBitsPerSecond: Self.whole(isFinal ? peak : peak * 1.25),
                averageBitsPerSecond: Self.whole(average), codecs: shown.codecs,
                resolution: shown.width > 0 ? .init(width: shown.width, height: shown.height) : nil)
        ])
    }

    /// A rate as playlists say it, also of a segment that is said to have lasted for a nanosecond.
    private static func whole(_ bitsPerSecond: Double) -> Int { Int(min(bitsPerSecond, 1e15).rounded(.up)) }

    /// Browsers begin small: the greatest picture describes the rendition. Sound alone does where it came first, for players then
    /// have no place for pictures.
    private var shown: Initialization? {
        let stored = initializations.filter(\.isStored)
        guard let first = stored.first, first.width > 0 else { return stored.first }
        return stored.max { $0.width * $0.height < $1.width * $1.height }
    }

    /// More segments than a node has in its spool that nobody knows of.
    private static let roomForFormer = 1_000
}

extension RecordingBook.Segment {
    fileprivate var inPlaylist: MediaPlaylist.Segment {
        MediaPlaylist.Segment(
            uri: "\(start.number).mp4", duration: duration, map: "init-\(start.map).mp4",
            isDiscontinuous: start.isDiscontinuous, programDateTime: start.date, isIndependent: start.isIndependent)
    }
}
