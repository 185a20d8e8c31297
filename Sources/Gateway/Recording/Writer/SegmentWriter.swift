import GatewayLogging
import GatewayMetrics
import Wire

/// Brings a recording's segments into the spool: each part into its file, and then into the chronicle, so that whoever comes after
/// a crash knows of nothing that is not there. Confined to the writer's thread.
final class SegmentWriter {
    private let chronicle: Chronicle
    private let folder: SpoolFolder
    private let environment: Recording.Environment
    private let fail: (String) -> Void
    private var files: SegmentFiles
    /// An encoder's times and parameter sets decide when a segment begins, and each forces files to disk
    /// on the thread of all recordings.
    private var allowance = Allowance(maximumSegmentsAtOnce, then: .seconds(1))

    /// - Parameter fail: ends the recording, for a reason: nothing more is written then.
    init(
        of chronicle: Chronicle, in folder: SpoolFolder, _ share: SpoolShare, _ environment: Recording.Environment,
        fail: @escaping (String) -> Void
    ) {
        (self.chronicle, self.folder, self.environment, self.fail) = (chronicle, folder, environment, fail)
        files = SegmentFiles(in: folder, share)
    }

    private var book: RecordingBook { chronicle.book }

    // MARK: - What a publish brings

    func carryOut(_ actions: [SegmentMachine.Action], of media: EncoderMedia) {
        for action in actions where book.failure == nil {
            do throws(SpoolError) { try carryOut(action, of: media) } catch { fail("\(error)") }
        }
    }

    private func carryOut(_ action: SegmentMachine.Action, of media: EncoderMedia) throws(SpoolError) {
        switch action {
        case .initialization(let number, let segment): try chronicle.note(files.write(segment, number: number))
        case .segmentBegan(let number, let map, let isDiscontinuous, let isIndependent, let time):
            let now = environment.clocks()
            guard allowance.take(at: now.monotonic) else { return fail("its segments begin all the time") }
            try files.begin(
                SegmentStart(
                    number: number, map: map, isDiscontinuous: isDiscontinuous, isIndependent: isIndependent,
                    date: media.wallTime(of: time, now: now)))
        case .fragment(let fragment, let duration):
            guard let written = try files.append(fragment, duration) else { return }
            try chronicle.note(written.entry)
            environment.metrics.bytes.increment(by: written.byteCount)
        case .segmentEnded:
            try files.end()
            try chronicle.note(.segmentEnded)
            try chronicle.synchronise()
        }
    }

    /// No more parts come: what of the open segment nobody has noted goes.
    func breakOff() throws(SpoolError) { try files.breakOff(book.openSegment) }

    // MARK: - What a crash left

    /// Notes what became of the segments of which no line says that they are stored.
    func recover() throws(SpoolError) {
        // Files go when their bucket has them: a power cut may have taken the lines that said so, and what a segment needs is
        // stored before it.
        let gone = book.spooledSegments.filter { SpoolFile.isGone(folder.segment($0.start.number)) }
        for segment in gone {
            try chronicle.note(.initializationStored(segment.start.map))
            try chronicle.note(.segmentStored(segment.start.number))
        }
        log("recording_segments_gone", gone)
        // A power cut may also have taken the end of a file that nobody had forced to disk, and left its lines.
        let lost = book.spooledSegments.filter { segment in
            SpoolFile.byteCount(of: folder.segment(segment.start.number)).map { $0 < segment.byteCount } == true
        }
        for segment in lost { try chronicle.note(.segmentLost(segment.start.number)) }
        log("recording_segments_lost", lost)
        // A crash left it open: it ends with its last part.
        guard book.openSegment != nil else { return }
        try breakOff()
        try chronicle.note(.segmentEnded)
    }

    private func log(_ event: String, _ segments: [RecordingBook.Segment]) {
        guard let first = segments.first else { return }
        Log.event(
            .warning, event,
            [
                "participant": .string(book.header.participant.participantID), "prefix": .string(book.header.prefix),
                "first": .integer(first.start.number), "segments": .integer(segments.count),
                "ms": .integer(Int(segments.reduce(Duration.zero) { $0 + $1.duration }.milliseconds)),
            ])
    }

    /// An encoder's whole backlog behind a disk that stalled makes ten; other segments aim at two seconds at least.
    static let maximumSegmentsAtOnce = 30
}
