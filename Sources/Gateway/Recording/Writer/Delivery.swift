import EventLoop
import GatewayMetrics
import ObjectStorage
import Wire

/// Takes a recording out of the spool: gives its bucket one object after another, notes what is stored, and tells others how the
/// recording stands. Confined to the writer's thread.
///
/// A bucket that refused something for good is given nothing more until it is asked again; what is spooled waits for that.
final class Delivery {
    private let chronicle: Chronicle
    private let folder: SpoolFolder
    private let share: SpoolShare
    private let objects: RecordingObjects
    private let environment: Recording.Environment
    private let answer: @Sendable (UploadResult) -> Void
    private let fail: (String) -> Void
    private var output = RecordingOutput()
    /// When the step began that is under way, or was last.
    private var stepBegan: WallTime?
    /// When its bucket, which refused something for good, is asked once more; others have heard that it failed.
    private var asksAgainAt: MonotonicTime?
    /// Whether what is under way is still to be stored; its bucket's thread asks.
    private let isWanted = Lock(true)

    /// - Parameters:
    ///   - answer: the way of the bucket's answers back to the recording.
    ///   - fail: ends the recording, for a reason: the disk has no room for a line, or the bucket refused something for good.
    init(
        of chronicle: Chronicle, in folder: SpoolFolder, _ share: SpoolShare, _ environment: Recording.Environment,
        answer: @escaping @Sendable (UploadResult) -> Void, fail: @escaping (String) -> Void
    ) {
        (self.chronicle, self.folder, self.share, self.environment) = (chronicle, folder, share, environment)
        objects = RecordingObjects(prefix: chronicle.book.header.prefix, in: folder)
        self.answer = answer
        self.fail = fail
    }

    /// What is under way; nil between one step and the next.
    var step: OutputMachine.Step? { output.step }
    var isBucketLost: Bool { output.isBucketLost }
    /// Others have heard the last of the recording.
    var isConcluded: Bool { output.isConcluded }
    /// Since when the oldest has waited of what the bucket is given; nil where there is nothing for it.
    var waitingSince: WallTime? { [book.waitingSince, step == nil ? nil : stepBegan].compactMap { $0 }.min() }
    private var book: RecordingBook { chronicle.book }

    /// Once others know that the recording is lost, they are told nothing more.
    func tell(_ state: RecordingSummary.State) {
        if !book.isLossTold { environment.director.changed(book.summary(state)) }
    }

    // MARK: - One step

    /// As `OutputMachine` says it.
    func next(hasLatest: Bool, isOver: Bool) -> OutputMachine.Step? {
        output.next(book, hasLatest: hasLatest, isOver: isOver)
    }

    /// A step that stores nothing is over at once.
    /// - Parameter latest: the thumbnail that a step of the latest one stores.
    func begin(_ step: OutputMachine.Step, latest: [UInt8]) {
        stepBegan = environment.clocks().wall
        output.begin(step, contents(of: step, latest), storedCount: book.storedCount)
        storeNext()
    }

    private func contents(of step: OutputMachine.Step, _ latest: [UInt8]) -> [StoredObject] {
        switch step {
        case .storeInitialization(let number): [objects.initialization(number)]
        case .storeSegment(let number): [objects.segment(number)]
        case .storeThumbnail(let number): [objects.thumbnail(number)]
        case .storeLatestThumbnail: [objects.latestThumbnail(latest)]
        case .storePlaylist(let isFinal): [objects.playlist(of: book, isFinal: isFinal)]
        case .storeMultivariant(let isFinal): [objects.multivariant(of: book, isFinal: isFinal)]
        // Nobody was told of a beginning: nothing tells of an end.
        case .conclude(.over) where !book.hasStarted && book.failure == nil: []
        case .conclude(let state): environment.director.documents(of: book.summary(book.publicState(of: state)))
        case .close: []
        }
    }

    /// Stores the next object of the step that is under way; the step ends with the last one.
    private func storeNext() {
        guard let object = output.nextObject() else { return finishStep() }
        environment.director.put(
            Upload(
                object, bucket: book.header.bucket, isBucketProven: book.hasStored, done: answer,
                isWanted: { [isWanted] in isWanted.withLock { $0 } }))
    }

    /// What was put last is stored, or never will be.
    func answered(_ result: UploadResult) {
        switch result {
        case .stored: storeNext()
        case .failed(let reason): if SpoolFile.isGone(folder.path) { giveUp(reason) } else { lose(reason) }
        // The process ends: the next one finds it in the spool. What was withdrawn is dropped.
        case .interrupted: break
        }
    }

    /// Another node stores from now on: an old playlist of ours that the bucket has not taken yet must not replace that one's.
    func withdraw() { isWanted.withLock { $0 = false } }

    /// Nobody cares any more whether what is under way is stored.
    func drop() { output.drop() }

    // MARK: - What is noted of it

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

    /// The file goes only if the journal says that it is stored: otherwise the next start needs it.
    private func stored(_ entry: JournalEntry, _ path: String, _ byteCount: Int) {
        if noteStored(entry) { SpoolFile.remove(path) }
        share.release(byteCount)
    }

    /// What is stored stays so even if the disk has no room for the line that says it: then nothing more is recorded, and the
    /// next start stores it once more.
    /// - Returns: whether the journal says it.
    @discardableResult
    private func noteStored(_ entry: JournalEntry) -> Bool {
        do throws(SpoolError) {
            try chronicle.note(entry)
            return true
        } catch {
            fail("\(error)")
            chronicle.noteUnwritten(entry)
            return false
        }
    }

    // MARK: - A bucket that refuses

    /// What is spooled stays where it is, and takes its part of the spool.
    private func lose(_ reason: String) {
        output.loseBucket()
        asksAgainAt = environment.clocks().monotonic + Self.refusalPause
        fail(reason)
        guard !book.isLossTold else { return }
        tell(.failed(reason))
        noteStored(.lossTold)
    }

    /// Somebody has removed the recording's folder from the spool, as of a bucket that is gone for good: what was in it is lost.
    private func giveUp(_ reason: String) {
        output.drop()
        fail(reason)
        tell(book.publicState(of: .over))
        share.release(book.spooledByteCount)
        chronicle.noteUnwritten(.closed)
    }

    /// A store may be back after a day, or the right to write there may have been granted.
    func askLostBucketAgain() {
        guard let moment = asksAgainAt, environment.clocks().monotonic >= moment else { return }
        (asksAgainAt, output) = (nil, RecordingOutput())
    }

    /// A store that is back, or a right that was granted meanwhile, is found that soon.
    static let refusalPause = Duration.seconds(600)
}
