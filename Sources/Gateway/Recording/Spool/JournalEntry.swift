import Wire

/// What a recording's journal says, line by line: whoever reads it up to any line can finish the recording.
///
/// An earlier version stops at a word that it does not know, and does not know what follows. A new one of which it need not know
/// has to be written into the file with `"ignorable":true` beside it.
enum JournalEntry: Codable, Equatable {
    /// Once more where it goes on in another stage session.
    case began(RecordingHeader)
    case initialization(number: Int, codecs: String, width: Int, height: Int)
    /// A segment began, and its first part is on disk.
    case segment(SegmentStart, byteCount: Int, nanoseconds: Int64)
    /// The segment that began last has so many bytes on disk and lasts so long.
    case grown(byteCount: Int, nanoseconds: Int64)
    case segmentEnded
    case initializationStored(Int)
    case segmentStored(Int)
    /// A segment's file is not what the journal said, and nobody has stored it.
    case segmentLost(Int)
    /// A thumbnail's file is there.
    case thumbnail(number: Int, byteCount: Int)
    case thumbnailStored(Int)
    /// A file that the journal said was there is not.
    case thumbnailLost(Int)
    /// The latest thumbnail is stored. Said once: each later one replaces it.
    case latestThumbnailStored
    /// Playlists are there, and others know.
    case started
    /// The publish is over; nil when it goes on with another one.
    case paused(since: WallTime?)
    /// Another node has stored what was said so far, and may store a little more: numbers leave room for it.
    case takenOver
    case failed(String)
    /// Its bucket refused something for good, and others have heard that it failed.
    case lossTold
    /// Nothing is left to do.
    case closed
}

/// Whose recording it is, and where it goes.
struct RecordingHeader: Codable, Equatable {
    var participant: RecordedParticipant
    var bucket: String
    var prefix: String
    var segmentDuration: Int
    var reconnectWindowSeconds: Int
    var began: WallTime
    /// Nil in journals of versions that recorded nothing but sound and pictures.
    var media: RecordingPlan.Media?
    var thumbnails: RecordingPlan.Thumbnails?
}

/// What is known of a segment from its first sample on.
struct SegmentStart: Codable, Equatable {
    var number: Int
    var map: Int
    var isDiscontinuous: Bool
    var isIndependent: Bool
    var date: WallTime
}

extension JournalEntry {
    /// Whether its numbers are such as a recording has. A file may have anything after a crash, and a register answer anything:
    /// what no recording has is left out, so that no sum overflows.
    var isPlausible: Bool {
        switch self {
        case .began(let header): header.isPlausible
        case .initialization(let number, _, let width, let height):
            Self.counts.contains(number) && Self.sides.contains(width) && Self.sides.contains(height)
        case .segment(let start, let byteCount, let nanoseconds):
            start.isPlausible && Self.counts.contains(byteCount) && Self.lengths.contains(nanoseconds)
        case .grown(let byteCount, let nanoseconds):
            Self.counts.contains(byteCount) && Self.lengths.contains(nanoseconds)
        case .thumbnail(let number, let byteCount): Self.counts.contains(number) && Self.counts.contains(byteCount)
        case .paused(let since): since?.isPlausible ?? true
        case .segmentEnded, .initializationStored, .segmentStored, .segmentLost, .thumbnailStored, .thumbnailLost,
            .latestThumbnailStored, .started, .takenOver, .failed, .lossTold, .closed:
            true
        }
    }

    /// Of things in order, and of bytes.
    fileprivate static let counts = 0...1 << 40
    private static let sides = 0...1 << 16
    /// Nanoseconds of a segment, which ends after a minute; an earlier version wrote some of a little less than nothing.
    private static let lengths: ClosedRange<Int64> = -1_000_000_000...600_000_000_000
}

extension RecordingHeader {
    /// Of a publish that begins a recording.
    init(_ participant: RecordedParticipant, _ plan: RecordingPlan, began: WallTime) {
        self.init(
            participant: participant, bucket: plan.bucket,
            prefix: "\(participant.stageID)/\(participant.stageSessionID)/\(participant.participantID)/\(began.pathText)",
            segmentDuration: plan.segmentDuration, reconnectWindowSeconds: Int(plan.reconnectWindow.inSeconds), began: began,
            media: plan.media, thumbnails: plan.thumbnails)
    }

    fileprivate var isPlausible: Bool {
        began.isPlausible && Self.seconds.contains(segmentDuration) && Self.seconds.contains(reconnectWindowSeconds)
            && Self.seconds.contains(thumbnails?.interval ?? 0)
    }

    /// Twelve days.
    private static let seconds = 0...1 << 20
}

extension SegmentStart {
    fileprivate var isPlausible: Bool {
        JournalEntry.counts.contains(number) && JournalEntry.counts.contains(map) && date.isPlausible
    }
}

extension WallTime {
    /// From 1970 to 2116.
    fileprivate var isPlausible: Bool { (0...1 << 62).contains(nanosecondsSince1970) }
}
