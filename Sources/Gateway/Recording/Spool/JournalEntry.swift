import Wire

/// What a recording's journal says, line by line: whoever reads it up to any line can finish the recording.
enum JournalEntry: Codable, Equatable {
    case began(RecordingHeader)
    case initialization(number: Int, codecs: String, width: Int, height: Int)
    /// A segment began, and its first part is on disk.
    case segment(SegmentStart, byteCount: Int, nanoseconds: Int64)
    /// The segment that began last has so many bytes on disk and lasts so long.
    case grown(byteCount: Int, nanoseconds: Int64)
    case segmentEnded
    case initializationStored(Int)
    case segmentStored(Int)
    /// A thumbnail's file is there.
    case thumbnail(number: Int, byteCount: Int)
    case thumbnailStored(Int)
    /// What was said to be there is not.
    case thumbnailLost(Int)
    /// One that only the latest takes the place of: said once.
    case latestThumbnailStored
    /// Playlists are there, and others know.
    case started
    /// The publish is over; nil when it goes on with another one.
    case paused(since: WallTime?)
    /// Another node has stored what was said so far, and may store a little more: numbers leave room for it.
    case takenOver
    case failed(String)
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
