import Wire

/// The stages' running sessions: who keeps them open, when they end, and whether the history knows them.
struct StageSessionTable {
    private struct Session {
        var record: StageSession
        /// Whether the history knows it; until a participant is announced it does not.
        var isRecorded = false
        /// A network test was in it: if it was alone, the history has forgotten the session with it.
        var mayBeForgotten = false
        /// How many publish or watch; a participant that does both counts twice.
        var present = 0
        /// When the last of them left, or the beginning.
        var idleSince: WallTime

        mutating func leave(at now: WallTime) { (present, idleSince) = (present - 1, now) }
    }

    /// By stage ARN.
    private var sessions: [String: Session] = [:]

    /// - Parameter recorded: what a former process left open.
    init(recorded: [StageSession], now: WallTime) {
        for record in recorded { replace(with: record, isRecorded: true, idleSince: now) }
    }

    var isEmpty: Bool { sessions.isEmpty }

    subscript(_ arn: String) -> StageSession? { sessions[arn]?.record }

    /// The stage's session, if any of its participants was ever announced.
    func recorded(ofStage arn: String) -> StageSession? { sessions[arn].flatMap { $0.isRecorded ? $0.record : nil } }
}

// MARK: - Beginning and ending

extension StageSessionTable {
    /// The id of the stage's session, which begins if there is none.
    mutating func id(ofStage arn: String, now: WallTime) -> String {
        if let session = sessions[arn] { return session.record.sessionID }
        let record = StageSession(stageARN: arn, sessionID: Identifier.stageSession(), startTime: now)
        sessions[arn] = Session(record: record, idleSince: now)
        return record.sessionID
    }

    /// The stage's session is this one, in place of any other.
    /// - Parameters:
    ///   - isRecorded: the history knows it.
    ///   - present: how many publish or watch.
    mutating func replace(with record: StageSession, isRecorded: Bool, present: Int = 0, idleSince: WallTime) {
        sessions[record.stageARN] = Session(record: record, isRecorded: isRecorded, present: present, idleSince: idleSince)
    }

    /// Sessions of the history go on, on stages that have no other.
    mutating func takeUp(_ recorded: [StageSession], now: WallTime) {
        for record in recorded where sessions[record.stageARN] == nil {
            replace(with: record, isRecorded: true, idleSince: now)
        }
    }

    /// Ends those whose last publisher or viewer left long enough ago.
    mutating func endIdle(after linger: Duration, now: WallTime) -> [HistoryWrite] {
        var writes: [HistoryWrite] = []
        for (arn, session) in sessions where session.present == 0 && now.isPast(linger, since: session.idleSince) {
            sessions[arn] = nil
            guard session.isRecorded else { continue }
            writes.append(.sessionEnded(stageARN: arn, sessionID: session.record.sessionID, at: now))
        }
        return writes
    }

    /// Forgets those where nobody publishes or watches, without an end.
    mutating func forgetDeserted() {
        sessions = sessions.filter { $0.value.present > 0 }
    }
}

// MARK: - Who is there

extension StageSessionTable {
    mutating func enter(_ arn: String) { sessions[arn]?.present += 1 }

    mutating func leave(_ arn: String, now: WallTime) { sessions[arn]?.leave(at: now) }
}

// MARK: - What the history knows

extension StageSessionTable {
    /// What the history is told before anything else of the session; nothing if it knows it.
    mutating func record(ofStage arn: String) -> [HistoryWrite] {
        guard let session = sessions[arn], !session.isRecorded || session.mayBeForgotten else { return [] }
        sessions[arn]?.isRecorded = true
        sessions[arn]?.mayBeForgotten = false
        return [.sessionBegan(session.record)]
    }

    /// The session as it was told already: another node may have told of its end since, while nobody here was heard of.
    func beginning(again sessionID: String, ofStage arn: String) -> [HistoryWrite] {
        guard let session = recorded(ofStage: arn), session.sessionID == sessionID else { return [] }
        return [.sessionBegan(session)]
    }

    /// The history was told so by others.
    mutating func noteRecorded(ofStage arn: String) { sessions[arn]?.isRecorded = true }

    /// A network test was in it, which the history forgets.
    mutating func noteTest(onStage arn: String) { sessions[arn]?.mayBeForgotten = true }
}
