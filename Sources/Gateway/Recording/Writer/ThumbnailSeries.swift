import Wire

/// The thumbnails of one recording: which keyframe becomes one, which is the latest, and the files of those that are kept.
///
/// Nobody forces these files to disk: after a power cut some are not what the journal says.
struct ThumbnailSeries {
    private let plan: RecordingPlan.Thumbnails?
    private let folder: SpoolFolder
    private let share: SpoolShare
    private var schedule: ThumbnailSchedule?
    /// A keyframe is on its way to a JPEG.
    private(set) var isPicturing = false
    /// What is stored, or will be, as the latest thumbnail.
    private var latest: (jpeg: [UInt8], isStored: Bool)?

    init(_ plan: RecordingPlan.Thumbnails?, in folder: SpoolFolder, _ share: SpoolShare) {
        (self.plan, self.folder, self.share) = (plan, folder, share)
    }

    // MARK: - Keyframes

    /// A publish begins, and its first keyframe is due.
    mutating func begin() { schedule = plan.map { ThumbnailSchedule(interval: .seconds($0.interval)) } }

    /// Whether a keyframe that came now becomes a thumbnail.
    func isDue(at now: MonotonicTime) -> Bool { !isPicturing && schedule?.isDue(at: now) == true }

    /// Somebody makes a JPEG of a keyframe.
    mutating func asked(at now: MonotonicTime) {
        isPicturing = true
        schedule?.taken(at: now)
    }

    /// The JPEG is made, or could not be.
    mutating func answered() { isPicturing = false }

    // MARK: - Thumbnails

    /// Another one than what is stored as the latest.
    var hasLatest: Bool { latest?.isStored == false }

    /// The latest one, which is about to be stored: one that comes meanwhile is stored after it.
    mutating func takeLatest() -> [UInt8] {
        latest?.isStored = true
        return latest?.jpeg ?? []
    }

    /// The one that was taken could not be stored.
    mutating func returnLatest() { latest?.isStored = false }

    /// Keeps one as the plan says. The recording goes on without one for which there is no room.
    /// - Returns: what is to be noted of its file; nil where there is none.
    mutating func keep(_ jpeg: [UInt8], number: Int) -> JournalEntry? {
        guard let plan else { return nil }
        if plan.keepsLatest { latest = (jpeg, false) }
        guard plan.keepsAll, share.take(jpeg.count) else { return nil }
        do throws(SpoolError) {
            try SpoolFile(creating: folder.thumbnail(number)).append(jpeg)
        } catch {
            takeBack(jpeg, number: number)
            return nil
        }
        return .thumbnail(number: number, byteCount: jpeg.count)
    }

    /// Takes one back that was kept: the journal has no room for it.
    func takeBack(_ jpeg: [UInt8], number: Int) {
        share.release(jpeg.count)
        SpoolFile.remove(folder.thumbnail(number))
    }

    /// Whether its file is not what the journal says.
    func isLost(_ thumbnail: RecordingBook.Thumbnail) -> Bool {
        SpoolFile.byteCount(of: folder.thumbnail(thumbnail.number)) != thumbnail.byteCount
    }
}
