import MP4
import Wire

/// The files of a recording's segments: one of them is open, and grows. What is written of it the caller notes in the journal.
///
/// What is taken of the spool is given back by whoever stores the segment, or here if nothing was noted of it.
struct SegmentFiles {
    private struct Open {
        let start: SegmentStart
        let file: SpoolFile
        /// Taken of the spool.
        var byteCount = 0
    }

    private let folder: SpoolFolder
    private let share: SpoolShare
    private var open: Open?

    init(in folder: SpoolFolder, _ share: SpoolShare) { (self.folder, self.share) = (folder, share) }

    /// Returns when it is on disk.
    func write(_ segment: InitializationSegment, number: Int) throws(SpoolError) -> JournalEntry {
        let file = try SpoolFile(creating: folder.initialization(number))
        try file.append(segment.bytes)
        try file.synchronise()
        var size = (width: 0, height: 0)
        for track in segment.tracks {
            if case .h264(_, let width, let height) = track.description { size = (width, height) }
        }
        return .initialization(number: number, codecs: segment.codecs, width: size.width, height: size.height)
    }

    /// Nothing is noted of a segment before its first part is there.
    mutating func begin(_ start: SegmentStart) throws(SpoolError) {
        open = try Open(start: start, file: SpoolFile(creating: folder.segment(start.number)))
    }

    /// - Parameter duration: of the segment up to the end of this part.
    /// - Returns: what is to be noted, and how many bytes were written; nil where no segment is open.
    mutating func append(
        _ fragment: Fragment, _ duration: Duration
    ) throws(SpoolError) -> (entry: JournalEntry, byteCount: Int)? {
        guard let open else { return nil }
        let isFirst = open.byteCount == 0
        let parts = (isFirst ? [Fragment.segmentType] : []) + fragment.parts
        let count = parts.reduce(0) { $0 + $1.count }
        guard share.take(count) else {
            throw SpoolError("keep more for \(share.bucket) than recording.spool allows in \(share.spool.path)", 28)  // ENOSPC
        }
        let (byteCount, nanoseconds) = (open.byteCount + count, duration.nanoseconds)
        self.open?.byteCount = byteCount
        for part in parts { try open.file.append(part) }
        let entry: JournalEntry =
            isFirst
            ? .segment(open.start, byteCount: byteCount, nanoseconds: nanoseconds)
            : .grown(byteCount: byteCount, nanoseconds: nanoseconds)
        return (entry, count)
    }

    /// The segment is whole. Returns when it is on disk.
    mutating func end() throws(SpoolError) {
        try open?.file.synchronise()
        open = nil
    }

    /// No more parts come. Where one was open it is on disk then, as at a segment's end.
    /// - Parameter segment: one that has not ended, as the book has it: what stands behind its last part is cut off. Nil where
    ///   there is none, or nothing was noted of it.
    mutating func breakOff(_ segment: RecordingBook.Segment?) throws(SpoolError) {
        if let open {
            share.release(open.byteCount - (segment?.byteCount ?? 0))
            if segment == nil { SpoolFile.remove(folder.segment(open.start.number)) }
        }
        let file = open?.file
        open = nil
        guard let segment else { return }
        try SpoolFile.shorten(folder.segment(segment.start.number), to: segment.byteCount)
        try file?.synchronise()
    }
}
