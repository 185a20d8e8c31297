import GatewayLogging
import GatewayMetrics
import ObjectStorage
import Wire

/// One recording: from its encoder's media to its bucket's answers. Confined to the writer's thread.
///
/// It lives from a publish's first block until everything is stored; a participant who comes back within the window goes on in it.
/// What the disk refuses its parts throw, and it decides here what follows.
final class Recording {
    private let environment: Environment
    private let folder: SpoolFolder
    private let share: SpoolShare
    private let objects: RecordingObjects
    private let chronicle: Chronicle
    private var files: SegmentFiles
    private var thumbnails: ThumbnailSeries
    private var output = RecordingOutput()
    private var media: EncoderMedia?
    /// When its bucket, which refused something for good, is asked once more; others have heard that it failed.
    private var asksAgainAt: MonotonicTime?
    private var isLossTold = false
    static let refusalPause = Duration.seconds(600)
    /// Another node goes on with it.
    private(set) var isElsewhere = false
    /// Each segment is files that are forced to disk, on the thread of all recordings, whatever times and parameter sets come.
    private var segmentAllowance = Allowance(maximumSegmentsAtOnce, then: .seconds(1))
    /// An encoder's whole backlog behind a disk that stalled has ten; later segments aim at two seconds at least.
    static let maximumSegmentsAtOnce = 30

    private init(_ chronicle: Chronicle, in folder: SpoolFolder, _ environment: Environment) {
        (self.chronicle, self.folder, self.environment) = (chronicle, folder, environment)
        let header = chronicle.book.header
        objects = RecordingObjects(prefix: header.prefix, in: folder)
        let share = SpoolShare(spool: environment.spool, bucket: header.bucket)
        self.share = share
        files = SegmentFiles(in: folder, share)
        thumbnails = ThumbnailSeries(header.thumbnails, in: folder, share)
    }

    /// Begins a recording.
    /// - Parameter former: what another node of the cluster has stored of it, by the register.
    /// - Throws: `SpoolError` when the spool cannot take it.
    convenience init(
        _ header: RecordingHeader, continuing former: [JournalEntry] = [], in environment: Environment
    ) throws(SpoolError) {
        let name = "\(header.participant.stageID)-\(header.participant.participantID)-\(header.began.pathText)"
        let folder = try SpoolFolder(path: environment.spool.makeFolder(name))
        self.init(try Self.beginChronicle(header, continuing: former, in: folder, environment), in: folder, environment)
    }

    /// A folder whose disk has no room for the beginning is of no use to anybody.
    private static func beginChronicle(
        _ header: RecordingHeader, continuing former: [JournalEntry], in folder: SpoolFolder, _ environment: Environment
    ) throws(SpoolError) -> Chronicle {
        do throws(SpoolError) {
            let chronicle = try Chronicle(header, continuing: former, in: folder, environment.director.register)
            if !former.isEmpty, chronicle.book.pausedSince == nil {
                try chronicle.note(.paused(since: environment.clocks().wall))
            }
            return chronicle
        } catch {
            environment.spool.remove(folder.path)
            throw error
        }
    }

    /// Goes on with what a former process left in a folder.
    /// - Returns: nil for a folder without a recording, which is of no use to anybody.
    /// - Throws: `SpoolError`; EWOULDBLOCK while another process has it.
    convenience init?(recovering path: String, in environment: Environment) throws(SpoolError) {
        let folder = SpoolFolder(path: path)
        guard let chronicle = try Chronicle(recovering: folder, environment.director.register) else { return nil }
        self.init(chronicle, in: folder, environment)
        // A crash left it open: it ends with its last part.
        if let segment = book.openSegment {
            try files.breakOff(segment)
            try chronicle.note(.segmentEnded)
        }
        for thumbnail in book.waitingThumbnails where thumbnails.isLost(thumbnail) {
            try chronicle.note(.thumbnailLost(thumbnail.number))
        }
        if book.pausedSince == nil { try chronicle.note(.paused(since: environment.clocks().wall)) }
        // Only now: one that could not be taken up so far takes nothing of the spool.
        share.adopt(book.spooledByteCount)
    }

    var book: RecordingBook { chronicle.book }
    var header: RecordingHeader { chronicle.book.header }
    var isLive: Bool { media != nil }
    /// Nothing is on its way, and nothing could be.
    var isIdle: Bool { output.step == nil && (output.isBucketLost || isElsewhere || !book.isWaiting) }

    /// Nobody is recorded, and nobody comes back any more.
    func isOver(at now: WallTime) -> Bool {
        if book.failure != nil || book.isClosed { return true }
        guard media == nil, !thumbnails.isPicturing, let since = book.pausedSince else { return false }
        return now.isPast(.seconds(header.reconnectWindowSeconds), since: since)
    }

    // MARK: - Media

    /// A publish of the participant begins, the first one or another.
    func begin(expectsVideo: Bool, tracksShareClock: Bool) {
        let machine = SegmentMachine(
            target: .seconds(header.segmentDuration), expectsVideo: expectsVideo, continuing: book.position)
        media = EncoderMedia(
            header.media == .thumbnailsAlone ? nil : machine, tracksShareClock: tracksShareClock,
            transcoder: environment.transcoder)
        thumbnails.begin()
        guard book.pausedSince != nil else { return }
        note(.paused(since: nil))
        chronicle.shared?.rests(since: nil)
        tell(book.hasStarted ? .active : .starting)
    }

    func take(_ block: RecordingBlock) {
        guard let media, book.failure == nil else { return }
        let lost = media.lostCount
        carryOut(media.take(block))
        if let keyframe = media.takeKeyframe() { picture(keyframe) }
        guard media.lostCount > lost else { return }
        environment.metrics.overruns.increment()
        environment.gaps.tell(of: header.participant, at: environment.clocks().monotonic)
    }

    /// The publish is over.
    func pause() {
        guard let media else { return }
        if book.failure == nil { carryOut(media.finish()) }
        if media.damagedPictureCount > 0 {
            Log.event(
                .info, "recording_damaged_pictures",
                ["participant": .string(header.participant.participantID), "pictures": .integer(media.damagedPictureCount)])
        }
        self.media = nil
        environment.latest.set(nil, of: header.participant)
        guard book.failure == nil else { return }
        note(.paused(since: environment.clocks().wall))
        tell(.stopping)
    }

    private func carryOut(_ actions: [SegmentMachine.Action]) {
        for action in actions where book.failure == nil {
            attempt { () throws(SpoolError) in try carryOut(action) }
        }
    }

    private func carryOut(_ action: SegmentMachine.Action) throws(SpoolError) {
        switch action {
        case .initialization(let number, let segment): try chronicle.note(files.write(segment, number: number))
        case .segmentBegan(let number, let map, let isDiscontinuous, let isIndependent, let time):
            let now = environment.clocks()
            guard segmentAllowance.take(at: now.monotonic) else { return fail("its segments begin all the time") }
            try files.begin(
                SegmentStart(
                    number: number, map: map, isDiscontinuous: isDiscontinuous, isIndependent: isIndependent,
                    date: media?.wallTime(of: time, now: now) ?? now.wall))
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

    private func picture(_ keyframe: AccessUnit) {
        let now = environment.clocks().monotonic
        guard thumbnails.isDue(at: now), environment.makePicture(self, keyframe.annexB) else { return }
        thumbnails.asked(at: now)
    }

    /// A keyframe became a JPEG; nil when it could not.
    func pictured(_ jpeg: [UInt8]?) {
        thumbnails.answered()
        guard let jpeg, header.thumbnails != nil, book.failure == nil else { return }
        if isLive { environment.latest.set(jpeg, of: header.participant) }
        let number = book.thumbnailCount + 1
        if let entry = thumbnails.keep(jpeg, number: number), !note(entry) { thumbnails.takeBack(jpeg, number: number) }
    }

    // MARK: - What the disk refuses

    /// It ends the recording, not the stream.
    /// - Returns: false where it did.
    @discardableResult
    private func attempt(_ body: () throws(SpoolError) -> Void) -> Bool {
        do throws(SpoolError) {
            try body()
            return true
        } catch {
            fail("\(error)")
            return false
        }
    }

    @discardableResult
    private func note(_ entry: JournalEntry) -> Bool { attempt { () throws(SpoolError) in try chronicle.note(entry) } }

    /// What is stored is stored, also where the disk has no room for the line that says so: nothing more is recorded then, and a
    /// next start stores it once more.
    /// - Returns: whether the journal says it.
    @discardableResult
    private func noteStored(_ entry: JournalEntry) -> Bool {
        let isWritten = note(entry)
        if !isWritten { chronicle.noteUnwritten(entry) }
        return isWritten
    }

    /// Nothing more is recorded; what is whole is stored still.
    private func fail(_ reason: String) {
        guard book.failure == nil else { return }
        environment.metrics.failures.increment()
        Log.event(
            .error, "recording_failed",
            [
                "participant": .string(header.participant.participantID), "stage": .string(header.participant.stageID),
                "because": .string(reason),
            ])
        try? files.breakOff(book.openSegment)
        chronicle.fail(reason)
    }
}

// MARK: - What is stored

extension Recording {
    /// A state that nothing is stored for. Of one that is lost nothing more is told.
    func tell(_ state: RecordingSummary.State) {
        if !isLossTold { environment.director.changed(book.summary(state)) }
    }

    /// Stores what can be stored now, if nothing is under way.
    /// - Returns: whether the recording is closed, and its folder gone.
    func advance(at now: WallTime) -> Bool {
        guard output.step == nil else { return false }
        if book.isClosed || isElsewhere { return isUnreferred }
        askLostBucketAgain()
        guard !output.isBucketLost else { return false }
        guard let step = output.next(book, hasLatest: thumbnails.hasLatest, isOver: isOver(at: now)) else {
            if media == nil { chronicle.shared?.rests(since: book.pausedSince) }
            return false
        }
        guard media != nil || isPermitted(at: now) else { return false }
        if step == .close { return close() }
        output.begin(step, contents(of: step), storedCount: book.storedCount)
        storeNext()
        return false
    }

    private func contents(of step: OutputMachine.Step) -> [StoredObject] {
        switch step {
        case .storeInitialization(let number): [objects.initialization(number)]
        case .storeSegment(let number): [objects.segment(number)]
        case .storeThumbnail(let number): [objects.thumbnail(number)]
        case .storeLatestThumbnail: [objects.latestThumbnail(thumbnails.takeLatest())]
        case .storePlaylist(let isFinal): [objects.playlist(of: book, isFinal: isFinal)]
        case .storeMultivariant(let isFinal): [objects.multivariant(of: book, isFinal: isFinal)]
        case .conclude(let state): environment.director.documents(of: book.summary(book.publicState(of: state)))
        case .close: []
        }
    }

    /// Stores the next object of the step that is under way; the step ends with the last one.
    private func storeNext() {
        guard let object = output.nextObject() else { return finishStep() }
        environment.director.put(Upload(object, bucket: header.bucket, done: environment.makeAnswer(self)))
    }

    /// What was put last is stored, or never will be.
    func answered(_ result: UploadResult) {
        guard output.step != nil else { return }
        if isElsewhere { return output.drop() }
        switch result {
        case .stored: storeNext()
        case .failed(let reason): lose(reason)
        // The process ends: the next one finds it in the spool.
        case .interrupted: break
        }
    }

    private func finishStep() {
        guard let step = output.finish() else { return }
        switch step {
        case .storeInitialization(let number): noteStored(.initializationStored(number))
        case .storeSegment(let number): storedSegment(number)
        case .storeThumbnail(let number): storedThumbnail(number)
        case .storeLatestThumbnail: if !book.hasStoredThumbnail { noteStored(.latestThumbnailStored) }
        case .conclude(let state):
            if state == .active { noteStored(.started) }
            tell(book.publicState(of: state))
        case .storePlaylist, .storeMultivariant, .close: break
        }
    }

    private func storedSegment(_ number: Int) {
        guard let segment = book.spooledSegments.first(where: { $0.start.number == number }) else { return }
        stored(.segmentStored(number), folder.segment(number), segment.byteCount)
        environment.metrics.seconds.increment(by: Int(segment.duration.inSeconds.rounded()))
    }

    private func storedThumbnail(_ number: Int) {
        guard let thumbnail = book.waitingThumbnails.first(where: { $0.number == number }) else { return }
        stored(.thumbnailStored(number), folder.thumbnail(number), thumbnail.byteCount)
    }

    /// A next start needs the file where the journal does not say that it is stored.
    private func stored(_ entry: JournalEntry, _ path: String, _ byteCount: Int) {
        if noteStored(entry) { SpoolFile.remove(path) }
        share.release(byteCount)
    }

    private func close() -> Bool {
        try? chronicle.note(.closed)
        environment.spool.remove(folder.path)
        return isUnreferred
    }

    /// Answers find their recording by where it lies in memory: another one may lie there when it has gone.
    private var isUnreferred: Bool { output.step == nil && !thumbnails.isPicturing && chronicle.shared?.isAsked != true }

    /// What is spooled stays where it is, and takes its part of the spool.
    private func lose(_ reason: String) {
        if output.step == .storeLatestThumbnail { thumbnails.returnLatest() }
        output.loseBucket()
        asksAgainAt = environment.clocks().monotonic + Self.refusalPause
        fail(reason)
        tell(.failed(reason))
        isLossTold = true
    }

    /// A store may be back after a day, or whoever may write there be put right.
    private func askLostBucketAgain() {
        guard let moment = asksAgainAt, environment.clocks().monotonic >= moment else { return }
        (asksAgainAt, output) = (nil, RecordingOutput())
    }
}

// MARK: - Whose it is

extension Recording {
    /// Whether others can take it over.
    var isShared: Bool { chronicle.shared != nil }

    private func isPermitted(at now: WallTime) -> Bool {
        let (isOver, moment) = (isOver(at: now), environment.clocks().monotonic)
        return chronicle.shared?.permits(isOver: isOver, at: moment) { environment.askRegister(self) } != false
    }

    /// The register says whose it is.
    func registerRead(_ page: Result<RegisterPage?, any Error>) {
        guard media == nil, !isElsewhere, !book.isClosed else {
            chronicle.shared?.passOver()
            return
        }
        if chronicle.shared?.read(page) == false { return leave() }
        if !output.isConcluded { tell(.stopping) }
    }

    /// Another node goes on with it.
    func leave() {
        guard !isElsewhere else { return }
        let left = book.spooledSegments.reduce(Duration.zero) { $0 + $1.duration }
        Log.event(
            .warning, "recording_taken_over",
            [
                "participant": .string(header.participant.participantID), "prefix": .string(header.prefix),
                "left_out_ms": .integer(Int(left.nanoseconds / 1_000_000)),
            ])
        share.release(book.spooledByteCount)
        environment.spool.remove(folder.path)
        isElsewhere = true
        tell(.elsewhere)
    }
}
