import GatewayLogging
import GatewayMetrics
import HLS
import MP4
import Wire

/// One recording: its folder in the spool, its journal, and what of it is stored. Confined to the writer's thread.
///
/// It lives from a publish's first block until everything is stored; a participant who comes back within the window goes on in it.
final class Recording {
    private(set) var book: RecordingBook
    private let folder: String
    private let journal: Journal
    private let environment: Environment
    private let keys: ObjectKeys
    private var shared: SharedJournal?
    /// Another node goes on with it.
    private(set) var isElsewhere = false
    private var media: EncoderMedia?
    private var file: SpoolFile?
    private var fileByteCount = 0
    private var announced: (start: SegmentStart, initial: [UInt8])?
    /// Each segment is files that are forced to disk, on the thread of all recordings, whatever times and parameter sets come.
    private var segmentAllowance = Allowance(maximumSegmentsAtOnce, then: .seconds(1))
    /// An encoder's whole backlog behind a disk that stalled has ten; later segments aim at two seconds at least.
    static let maximumSegmentsAtOnce = 30

    private var schedule: ThumbnailSchedule?
    private var isPicturing = false
    /// What is stored, or will be, as the latest thumbnail.
    private var latest: (jpeg: [UInt8], isStored: Bool)?

    private var output = OutputMachine()
    private var step: OutputMachine.Step?
    private var stepCount = 0
    private var documents: [RecordedObject] = []
    private var isTargetLost = false

    /// Begins a recording.
    /// - Parameter former: what another node of the cluster has stored of it, by the register.
    /// - Throws: `SpoolError` when the spool cannot take it.
    init(
        _ header: RecordingHeader, continuing former: [JournalEntry] = [], in environment: Environment
    ) throws(SpoolError) {
        let name = "\(header.participant.stageID)-\(header.participant.participantID)-\(header.began.pathText)"
        folder = try environment.spool.makeFolder(name)
        journal = try Journal(in: folder)
        (self.environment, book, keys) = (environment, RecordingBook(header), ObjectKeys(prefix: header.prefix))
        shared = SharedJournal(header, environment.director.register)
        try journal.append(.began(header))
        if former.isEmpty { shared?.begin() }
        for entry in former.dropFirst() {
            try journal.append(entry)
            book.apply(entry)
        }
        if !former.isEmpty, book.pausedSince == nil { try note(.paused(since: environment.clocks().wall)) }
    }

    /// Goes on with what a former process left in a folder.
    /// - Returns: nil for a folder without a recording, which is of no use to anybody.
    /// - Throws: `SpoolError`; EWOULDBLOCK while another process has it.
    init?(recovering folder: String, in environment: Environment) throws(SpoolError) {
        journal = try Journal(in: folder)
        guard let book = RecordingBook(replaying: try journal.recover()), !book.isClosed else { return nil }
        (self.folder, self.environment, self.book) = (folder, environment, book)
        keys = ObjectKeys(prefix: book.header.prefix)
        environment.spool.adopt(book.spooledByteCount)
        try endCutOffSegment()
        try giveUpLostThumbnails()
        shared = SharedJournal(book.header, environment.director.register)
        if book.pausedSince == nil { try note(.paused(since: environment.clocks().wall)) }
    }

    var header: RecordingHeader { book.header }
    var isLive: Bool { media != nil }
    /// Nothing is on its way, and nothing could be.
    var isIdle: Bool { step == nil && (isTargetLost || !book.isWaiting) }

    /// Nobody is recorded, and nobody comes back any more.
    func isOver(at now: WallTime) -> Bool {
        if book.failure != nil { return true }
        guard media == nil, !isPicturing, let since = book.pausedSince else { return false }
        return now - since >= .seconds(book.header.reconnectWindowSeconds)
    }

    // MARK: - Media

    /// A publish of the participant begins, the first one or another.
    func begin(expectsVideo: Bool, tracksShareClock: Bool) {
        let machine = SegmentMachine(
            target: .seconds(header.segmentDuration), expectsVideo: expectsVideo, continuing: book.position)
        media = EncoderMedia(
            header.media == .thumbnailsAlone ? nil : machine, tracksShareClock: tracksShareClock,
            transcoder: environment.transcoder)
        schedule = header.thumbnails.map { ThumbnailSchedule(interval: .seconds($0.interval)) }
        guard book.pausedSince != nil else { return }
        attempt { () throws(SpoolError) in try note(.paused(since: nil)) }
        shared?.rests(since: nil)
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
                [
                    "participant": .string(header.participant.participantID),
                    "pictures": .integer(media.damagedPictureCount),
                ])
        }
        self.media = nil
        environment.latest.set(nil, of: header.participant)
        guard book.failure == nil else { return }
        attempt { () throws(SpoolError) in try note(.paused(since: environment.clocks().wall)) }
        tell(.stopping)
    }

    private func carryOut(_ actions: [SegmentMachine.Action]) {
        for action in actions where book.failure == nil {
            attempt { () throws(SpoolError) in try carryOut(action) }
        }
    }

    private func carryOut(_ action: SegmentMachine.Action) throws(SpoolError) {
        switch action {
        case .initialization(let number, let segment): try write(segment, number: number)
        case .segmentBegan(let number, let map, let isDiscontinuous, let isIndependent, let time):
            let now = environment.clocks()
            guard segmentAllowance.take(at: now.monotonic) else { return fail("its segments begin all the time") }
            let date = media?.wallTime(of: time, now: now) ?? now.wall
            file = try SpoolFile(creating: path(segment: number))
            fileByteCount = 0
            announced = (
                SegmentStart(
                    number: number, map: map, isDiscontinuous: isDiscontinuous, isIndependent: isIndependent, date: date),
                Fragment.segmentType
            )
        case .fragment(let fragment, let duration): try append(fragment.parts, duration)
        case .segmentEnded:
            try file?.synchronise()
            file = nil
            try note(.segmentEnded)
            try journal.synchronise()
        }
    }

    private func append(_ parts: [[UInt8]], _ duration: Duration) throws(SpoolError) {
        guard let file else { return }
        let parts = (announced.map { [$0.initial] } ?? []) + parts
        let count = parts.reduce(0) { $0 + $1.count }
        guard environment.spool.take(count) else {
            throw SpoolError("keep more than recording.spool allows in \(environment.spool.path)", 28)  // ENOSPC
        }
        fileByteCount += count
        for part in parts { try file.append(part) }
        if let announced {
            self.announced = nil
            try note(.segment(announced.start, byteCount: fileByteCount, nanoseconds: duration.nanoseconds))
        } else {
            try note(.grown(byteCount: fileByteCount, nanoseconds: duration.nanoseconds))
        }
        environment.metrics.bytes.increment(by: count)
    }

    private func write(_ segment: InitializationSegment, number: Int) throws(SpoolError) {
        let file = try SpoolFile(creating: path(initialization: number))
        try file.append(segment.bytes)
        try file.synchronise()
        var size = (width: 0, height: 0)
        for track in segment.tracks {
            if case .h264(_, let width, let height) = track.description { size = (width, height) }
        }
        try note(.initialization(number: number, codecs: segment.codecs, width: size.width, height: size.height))
    }

    /// A crash left the last segment open: it ends with its last part.
    private func endCutOffSegment() throws(SpoolError) {
        guard let last = book.segments.last, !last.isEnded else { return }
        try SpoolFile.shorten(path(segment: last.start.number), to: last.byteCount)
        try note(.segmentEnded)
    }

    private func note(_ entry: JournalEntry) throws(SpoolError) {
        try journal.append(entry)
        book.apply(entry)
        shared?.note(entry, in: book)
    }

    /// What is stored is stored, also where the disk has no room for the line that says so: nothing more is recorded then, and a
    /// next start stores it once more.
    /// - Returns: whether the journal says it.
    @discardableResult
    private func noteStored(_ entry: JournalEntry) -> Bool {
        do throws(SpoolError) {
            try note(entry)
            return true
        } catch {
            fail("\(error)")
            book.apply(entry)
            shared?.note(entry, in: book)
            return false
        }
    }

    /// What the disk refuses ends the recording, not the stream.
    private func attempt(_ body: () throws(SpoolError) -> Void) {
        do throws(SpoolError) {
            try body()
        } catch {
            fail("\(error)")
        }
    }

    /// Nothing more is recorded; what is whole is stored still.
    private func fail(_ reason: String) {
        guard book.failure == nil else { return }
        file = nil
        environment.metrics.failures.increment()
        Log.event(
            .error, "recording_failed",
            [
                "participant": .string(header.participant.participantID), "stage": .string(header.participant.stageID),
                "because": .string(reason),
            ])
        // The disk may refuse this too: the book says it at least until the process ends.
        if let last = book.segments.last, !last.isEnded {
            try? SpoolFile.shorten(path(segment: last.start.number), to: last.byteCount)
            book.apply(.segmentEnded)
        }
        book.apply(.failed(reason))
        try? journal.append(.segmentEnded)
        try? journal.append(.failed(reason))
        shared?.note(.failed(reason), in: book)
    }

    private func path(segment number: Int) -> String { "\(folder)/\(number).mp4" }
    private func path(initialization number: Int) -> String { "\(folder)/init-\(number).mp4" }
    private func path(thumbnail number: Int) -> String { "\(folder)/thumb-\(number).jpg" }
}

// MARK: - Thumbnails

extension Recording {
    private func picture(_ keyframe: AccessUnit) {
        let now = environment.clocks().monotonic
        guard !isPicturing, schedule?.isDue(at: now) == true, environment.makePicture(self, keyframe.annexB) else { return }
        isPicturing = true
        schedule?.taken(at: now)
    }

    /// A keyframe became a JPEG; nil when it could not.
    func pictured(_ jpeg: [UInt8]?) {
        isPicturing = false
        guard let jpeg, let thumbnails = header.thumbnails, book.failure == nil else { return }
        if isLive { environment.latest.set(jpeg, of: header.participant) }
        if thumbnails.keepsLatest { latest = (jpeg, false) }
        if thumbnails.keepsAll { keep(jpeg) }
    }

    /// A thumbnail for which there is no room is left out: the recording goes on.
    private func keep(_ jpeg: [UInt8]) {
        let number = book.thumbnailCount + 1
        guard environment.spool.take(jpeg.count) else { return }
        do throws(SpoolError) {
            try SpoolFile(creating: path(thumbnail: number)).append(jpeg)
        } catch {
            environment.spool.release(jpeg.count)
            return SpoolFile.remove(path(thumbnail: number))
        }
        attempt { () throws(SpoolError) in try note(.thumbnail(number: number, byteCount: jpeg.count)) }
    }

    /// Nobody forces thumbnails to disk: after a power cut some are not what the journal says.
    private func giveUpLostThumbnails() throws(SpoolError) {
        for thumbnail in book.waitingThumbnails {
            if SpoolFile.byteCount(of: path(thumbnail: thumbnail.number)) == thumbnail.byteCount { continue }
            environment.spool.release(thumbnail.byteCount)
            try note(.thumbnailLost(thumbnail.number))
        }
    }

    private func storedThumbnail(_ number: Int) {
        guard let thumbnail = book.waitingThumbnails.first(where: { $0.number == number }) else { return }
        if noteStored(.thumbnailStored(number)) { SpoolFile.remove(path(thumbnail: number)) }
        environment.spool.release(thumbnail.byteCount)
    }

    private func storedLatestThumbnail() {
        if !book.hasStoredThumbnail { noteStored(.latestThumbnailStored) }
    }
}

// MARK: - What is stored

extension Recording {
    /// A state that nothing is stored for.
    func tell(_ state: RecordingSummary.State) { environment.director.changed(book.summary(state)) }

    /// Stores what can be stored now, if nothing is under way.
    /// - Returns: whether the recording is closed, and its folder gone.
    func advance(at now: WallTime) -> Bool {
        guard step == nil, !isTargetLost else { return false }
        if book.isClosed || isElsewhere { return true }
        guard let next = output.next(book, hasLatest: latest?.isStored == false, isOver: isOver(at: now)) else {
            if media == nil { shared?.rests(since: book.pausedSince) }
            return false
        }
        guard media != nil || isPermitted(at: now) else { return false }
        (step, stepCount) = (next, book.storedCount)
        switch next {
        case .storeInitialization(let number):
            put(keys.initialization(number), file: path(initialization: number), byteCount: nil)
        case .storeSegment(let number):
            put(
                keys.segment(number), file: path(segment: number),
                byteCount: book.spooledSegments.first { $0.start.number == number }?.byteCount)
        case .storeThumbnail(let number):
            put(keys.thumbnail(number), file: path(thumbnail: number), byteCount: nil, type: ObjectKeys.thumbnailType)
        case .storeLatestThumbnail: putLatestThumbnail()
        case .storePlaylist(let isFinal): put(keys.playlist, book.playlist(hasEnded: isFinal).text, isFinal: isFinal)
        case .storeMultivariant(let isFinal):
            put(keys.multivariant, book.multivariant(isFinal: isFinal)?.text ?? "", isFinal: isFinal)
        case .conclude(let state):
            documents = environment.director.documents(of: book.summary(book.publicState(of: state)))
            storeNextDocument()
        case .close: return close()
        }
        return false
    }

    private func isPermitted(at now: WallTime) -> Bool {
        let (isOver, moment) = (isOver(at: now), environment.clocks().monotonic)
        return shared?.permits(isOver: isOver, at: moment) { environment.askRegister(self) } != false
    }

    /// Whether others can take it over.
    var isShared: Bool { shared != nil }

    /// The register says whose it is.
    func registerRead(_ page: Result<RegisterPage?, any Error>) {
        guard media == nil else { return }
        if shared?.read(page) == false { leave() } else { tell(.stopping) }
    }

    /// Another node goes on with it.
    func leave() {
        let left = book.spooledSegments.reduce(Duration.zero) { $0 + $1.duration }
        Log.event(
            .warning, "recording_taken_over",
            [
                "participant": .string(header.participant.participantID), "prefix": .string(header.prefix),
                "left_out_ms": .integer(Int(left.nanoseconds / 1_000_000)),
            ])
        environment.spool.release(book.spooledByteCount)
        environment.spool.remove(folder)
        isElsewhere = true
        tell(.elsewhere)
    }

    /// What was put last is stored, or never will be.
    func answered(_ result: Result<Void, RecordingTargetError>) {
        guard let step else { return }
        if case .failure(let error) = result { return lose(error) }
        switch step {
        case .storeInitialization(let number): noteStored(.initializationStored(number))
        case .storeSegment(let number): stored(number)
        case .storeThumbnail(let number): storedThumbnail(number)
        case .storeLatestThumbnail: storedLatestThumbnail()
        case .conclude where !documents.isEmpty: return storeNextDocument()
        case .conclude(let state): return concluded(state)
        case .storePlaylist, .storeMultivariant, .close: break
        }
        finish(step)
    }

    private func finish(_ step: OutputMachine.Step) {
        output.done(step, count: stepCount)
        self.step = nil
    }

    private func stored(_ number: Int) {
        guard let segment = book.spooledSegments.first(where: { $0.start.number == number }) else { return }
        if noteStored(.segmentStored(number)) { SpoolFile.remove(path(segment: number)) }
        environment.spool.release(segment.byteCount)
        environment.metrics.seconds.increment(by: Int(segment.duration.inSeconds.rounded()))
    }

    private func storeNextDocument() {
        guard !documents.isEmpty else {
            if case .conclude(let state)? = step { concluded(state) }
            return
        }
        put(documents.removeFirst())
    }

    private func concluded(_ state: OutputMachine.State) {
        if state == .active { noteStored(.started) }
        finish(.conclude(state))
        tell(book.publicState(of: state))
    }

    private func close() -> Bool {
        try? note(.closed)
        environment.spool.remove(folder)
        step = nil
        return true
    }

    /// What is spooled stays where it is: a later start tries again.
    private func lose(_ error: RecordingTargetError) {
        (step, isTargetLost) = (nil, true)
        fail("\(error)")
        tell(.failed("\(error)"))
    }

    private func put(_ key: String, file path: String, byteCount: Int?, type: String = ObjectKeys.segmentType) {
        let count = byteCount ?? SpoolFile.byteCount(of: path) ?? 0
        put(RecordedObject(key: key, content: .file(path: path, byteCount: count), contentType: type))
    }

    /// One that comes meanwhile is stored after it.
    private func putLatestThumbnail() {
        latest?.isStored = true
        put(RecordedObject(key: keys.latestThumbnail, content: .bytes(latest?.jpeg ?? []), contentType: ObjectKeys.thumbnailType))
    }

    private func put(_ key: String, _ text: String, isFinal: Bool) {
        put(
            RecordedObject(
                key: key, content: .bytes(Array(text.utf8)), contentType: ObjectKeys.playlistType, isProvisional: !isFinal))
    }

    private func put(_ object: RecordedObject) {
        guard let target = environment.director.target(of: header.bucket) else {
            return lose(RecordingTargetError("the configuration has no bucket \(header.bucket)"))
        }
        target.put(object, then: environment.makeAnswer(self))
    }
}
