import Wire

/// Whether a publish goes on with a recording that another node of the cluster has. A value: what the register says goes in.
///
/// The other node may be alive: it gets a little time to store what it has, and to notice that its participant has left.
struct Resumption {
    enum Step: Equatable {
        /// There is nothing to go on with.
        case beginAnew
        /// Ask the register again.
        case askAgain
        /// Write that this node has it from now on, and ask again.
        case takeOver
        /// It is this node's.
        case goOn([JournalEntry])
    }

    let participant: RecordedParticipant
    let plan: RecordingPlan
    let node: String

    /// - Parameters:
    ///   - taken: what the register said when this node wrote that it takes it over. That lands, sooner or later: where nobody
    ///     hears of it in time this node goes on all the same, because the other one stops.
    ///   - waited: since the publish began; its media waits in its feed, which holds some five seconds.
    func step(_ page: RegisterPage?, taken: [JournalEntry]? = nil, waited: Duration, now: WallTime) -> Step {
        if let taken, page == nil || waited >= Self.longest { return .goOn(taken + [.takenOver]) }
        guard let page, !page.isClosed, waited < Self.longest else { return .beginAnew }
        let entries = page.entries
        guard let book = RecordingBook(replaying: entries), book.failure == nil, book.header.fits(participant, plan),
            now - book.lastHeard < plan.reconnectWindow + Self.allowance(book)
        else { return .beginAnew }
        if page.node == node { return .goOn(entries) }
        return book.pausedSince != nil || waited >= Self.patience ? .takeOver : .askAgain
    }

    /// Of a node that was killed, the last segment that it stored is known, but not how long it lived after that.
    private static func allowance(_ book: RecordingBook) -> Duration {
        book.pausedSince == nil ? .seconds(2 * book.header.segmentDuration) : .zero
    }

    /// What the other node gets, if it lives, to store what it has.
    private static let patience = Duration.seconds(2)
    /// Less than the feed holds, in which the media waits meanwhile.
    private static let longest = Duration.seconds(4)
}

extension RecordingHeader {
    /// Whether a publish of that participant by that plan may go on in this recording, if it comes in time.
    func fits(_ participant: RecordedParticipant, _ plan: RecordingPlan) -> Bool {
        self.participant.participantID == participant.participantID && self.participant.stageID == participant.stageID
            && bucket == plan.bucket && .seconds(reconnectWindowSeconds) == plan.reconnectWindow && plan.reconnectWindow > .zero
            && media ?? .audioAndVideo == plan.media && thumbnails == plan.thumbnails
    }
}
