import GatewayLogging
import GatewayMetrics
import ObjectStorage
import Wire

/// One recording: from its encoder's media to its bucket's answers. Confined to the writer's thread.
///
/// It lives from a publish's first block until everything is stored; a participant who comes back within the window goes on in
/// it. Its parts throw, or tell it, what the disk refuses; what follows is decided here.
final class Recording {
    private let environment: Environment
    private let folder: SpoolFolder
    private let share: SpoolShare
    private let chronicle: Chronicle
    private lazy var segments = SegmentWriter(
        of: chronicle, in: folder, share, environment, fail: { [unowned self] reason in self.fail(reason) })
    private var thumbnails: ThumbnailSeries
    private lazy var delivery = Delivery(
        of: chronicle, in: folder, share, environment, answer: environment.makeAnswer(self),
        fail: { [unowned self] reason in self.fail(reason) })
    private var media: EncoderMedia?
    /// Another node goes on with it.
    private(set) var isElsewhere = false

    private init(_ chronicle: Chronicle, in folder: SpoolFolder, _ environment: Environment) {
        (self.chronicle, self.folder, self.environment) = (chronicle, folder, environment)
        let header = chronicle.book.header
        let share = SpoolShare(spool: environment.spool, bucket: header.bucket)
        self.share = share
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
        try segments.recover()
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
    /// Since when the oldest has waited of what is for the bucket; nil where nothing is.
    var waitingSince: WallTime? { isElsewhere || book.isClosed ? nil : delivery.waitingSince }
    /// Nothing is on its way to the bucket, and nothing could be.
    var isIdle: Bool { delivery.step == nil && (delivery.isBucketLost || isElsewhere || !book.isWaiting) }

    /// Nobody is recorded, and nobody comes back any more.
    func isOver(at now: WallTime) -> Bool {
        if book.failure != nil || book.isClosed { return true }
        guard media == nil, !thumbnails.isPicturing, let since = book.pausedSince else { return false }
        return now.isPast(.seconds(header.reconnectWindowSeconds), since: since)
    }

    // MARK: - Media

    /// The next publish is in that stage session, as a window may outlive one: it is told of there from now on.
    func goOn(inSession id: String) {
        guard id != header.participant.stageSessionID else { return }
        tell(.inNextSession)
        var next = header
        next.participant.stageSessionID = id
        note(.began(next))
    }

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
        segments.carryOut(media.take(block), of: media)
        if let keyframe = media.takeKeyframe() { picture(keyframe) }
        guard media.lostCount > lost else { return }
        environment.metrics.overruns.increment()
        environment.gaps.tell(of: header.participant, at: environment.clocks().monotonic)
    }

    /// The publish is over.
    func pause() {
        guard let media else { return }
        if book.failure == nil { segments.carryOut(media.finish(), of: media) }
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

    /// - Returns: false where it has no room for the line, which ends the recording, and not the stream.
    @discardableResult
    private func note(_ entry: JournalEntry) -> Bool {
        do throws(SpoolError) {
            try chronicle.note(entry)
            return true
        } catch {
            fail("\(error)")
            return false
        }
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
        try? segments.breakOff()
        chronicle.fail(reason)
    }
}

// MARK: - What is stored

extension Recording {
    /// Tells others a state with which nothing is stored.
    func tell(_ state: RecordingSummary.State) { delivery.tell(state) }

    /// Stores what can be stored now, if nothing is under way.
    /// - Returns: whether the recording is closed, and its folder gone.
    func advance(at now: WallTime) -> Bool {
        guard delivery.step == nil else {
            if media == nil, !isElsewhere { watch() }
            return false
        }
        if book.isClosed || isElsewhere { return isUnreferred }
        delivery.askLostBucketAgain()
        guard !delivery.isBucketLost else { return false }
        guard let step = delivery.next(hasLatest: thumbnails.hasLatest, isOver: isOver(at: now)) else {
            if media == nil { chronicle.shared?.rests(since: book.pausedSince) }
            return false
        }
        guard media != nil || isPermitted(at: now) else { return false }
        if step == .close { return close() }
        delivery.begin(step, latest: step == .storeLatestThumbnail ? thumbnails.takeLatest() : [])
        return delivery.step == nil && advance(at: now)
    }

    /// What was put last is stored, or never will be.
    func answered(_ result: UploadResult) {
        guard let step = delivery.step else { return }
        if isElsewhere { return delivery.drop() }
        if case .failed = result, step == .storeLatestThumbnail { thumbnails.returnLatest() }
        delivery.answered(result)
    }

    private func close() -> Bool {
        try? chronicle.note(.closed)
        environment.spool.remove(folder.path)
        return isUnreferred
    }

    /// Answers find their recording by its address in memory, which another one may have once it is gone.
    private var isUnreferred: Bool { delivery.step == nil && !thumbnails.isPicturing && chronicle.shared?.isAsked != true }
}

// MARK: - Whose it is

extension Recording {
    /// Whether others can take it over.
    var isShared: Bool { chronicle.shared != nil }

    private func isPermitted(at now: WallTime) -> Bool {
        let (isOver, moment) = (isOver(at: now), environment.clocks().monotonic)
        return chronicle.shared?.permits(isOver: isOver, at: moment) { environment.askRegister(self) } != false
    }

    private func watch() {
        chronicle.shared?.watch(at: environment.clocks().monotonic) { environment.askRegister(self) }
    }

    /// The register says whose it is.
    func registerRead(_ page: Result<RegisterPage?, any Error>) {
        guard media == nil, !isElsewhere, !book.isClosed else {
            chronicle.shared?.passOver()
            return
        }
        if chronicle.shared?.read(page) == false { return leave() }
        if !delivery.isConcluded { tell(.stopping) }
    }

    /// Another node goes on with it.
    func leave() {
        guard !isElsewhere, !book.isClosed else { return }
        let left = book.spooledSegments.reduce(Duration.zero) { $0 + $1.duration }
        Log.event(
            .warning, "recording_taken_over",
            [
                "participant": .string(header.participant.participantID), "prefix": .string(header.prefix),
                "left_out_ms": .integer(Int(left.milliseconds)),
            ])
        delivery.withdraw()
        share.release(book.spooledByteCount)
        environment.spool.remove(folder.path)
        isElsewhere = true
        tell(.elsewhere)
    }
}
