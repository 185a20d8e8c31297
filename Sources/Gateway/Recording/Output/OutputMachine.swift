import Wire

/// What of a recording is stored next, one object at a time, and when it is in which state. A value: the book says what there is.
///
///     segment is whole ─► initialization ─► segment ─► playlist (─► multivariant, after an initialization)
///                                                               (─► documents ─► active, the first time)
///     a thumbnail is there, and no segment waits ─► thumbnail (─► documents ─► active, where there are no segments)
///     publish is over, window has run ─► playlist, multivariant (final) ─► documents ─► stopped or failed ─► closed
struct OutputMachine {
    enum Step: Equatable {
        case storeInitialization(Int)
        case storeSegment(Int)
        case storePlaylist(isFinal: Bool)
        case storeMultivariant(isFinal: Bool)
        case storeThumbnail(Int)
        case storeLatestThumbnail
        /// Ask for the documents of that state, store them, and say it.
        case conclude(State)
        case close
    }

    enum State: Equatable { case active, over }

    /// Segments that the stored playlist names; nil before there is one.
    private var playlistCount: Int?
    private var hasMultivariant = false
    private var hasFinalPlaylist = false
    private var hasFinalMultivariant = false
    private(set) var hasConcluded = false

    /// After a restart nobody knows what playlists are stored: they are stored again.
    init() {}

    /// - Parameters:
    ///   - hasLatest: whether the latest thumbnail is another one than what is stored.
    ///   - isOver: nothing more is recorded, and nobody comes back.
    func next(_ book: RecordingBook, hasLatest: Bool = false, isOver: Bool) -> Step? {
        switch book.missing {
        case .initialization(let number): return .storeInitialization(number)
        case .segment(let number): return .storeSegment(number)
        case nil: break
        }
        let count = book.storedCount
        if count > 0, !isOver || !book.hasStarted {
            if playlistCount != count { return .storePlaylist(isFinal: false) }
            if !hasMultivariant { return .storeMultivariant(isFinal: false) }
            if !book.hasStarted { return .conclude(.active) }
        }
        if let thumbnail = book.waitingThumbnails.first { return .storeThumbnail(thumbnail.number) }
        if hasLatest { return .storeLatestThumbnail }
        if book.hasStoredThumbnail, book.header.media == .thumbnailsAlone, !book.hasStarted { return .conclude(.active) }
        return isOver ? lastStep(count) : nil
    }

    private func lastStep(_ count: Int) -> Step {
        if count > 0 {
            if !hasFinalPlaylist { return .storePlaylist(isFinal: true) }
            if !hasFinalMultivariant { return .storeMultivariant(isFinal: true) }
        }
        return hasConcluded ? .close : .conclude(.over)
    }

    /// - Parameter count: segments that were stored when the step was taken.
    mutating func done(_ step: Step, count: Int) {
        switch step {
        case .storePlaylist(let isFinal):
            playlistCount = count
            hasFinalPlaylist = isFinal
        case .storeMultivariant(let isFinal): (hasMultivariant, hasFinalMultivariant) = (true, isFinal)
        // It may bring a greater picture.
        case .storeInitialization: hasMultivariant = false
        case .conclude(.over): hasConcluded = true
        case .storeSegment, .storeThumbnail, .storeLatestThumbnail, .conclude(.active), .close: break
        }
    }
}
