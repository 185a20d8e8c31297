import GRDB

/// A part of the history as the writes that would recreate it, in the order in which they have to be written.
enum HistoryPart: CaseIterable {
    case sessions, participants, events

    /// - Parameters:
    ///   - offset: rows to leave out.
    ///   - limit: rows, each of which may take several writes.
    func writes(in database: Database, offset: Int, limit: Int) throws -> [HistoryWrite] {
        let page = "true ORDER BY 1, 2, 3 LIMIT ? OFFSET ?"
        switch self {
        case .sessions:
            return try StageSession.fetch(database, where: page, [limit, offset]).flatMap { HistoryWrite.story(of: $0) }
        case .participants:
            return try Participant.fetch(database, where: page, [limit, offset]).flatMap { HistoryWrite.story(of: $0) }
        case .events: return try ParticipantEvent.fetch(database, where: page, [limit, offset]).map(HistoryWrite.event)
        }
    }
}

extension HistoryWrite {
    fileprivate static func story(of session: StageSession) -> [HistoryWrite] {
        var begun = session
        begun.endTime = nil
        let end = session.endTime.map {
            HistoryWrite.sessionEnded(stageARN: session.stageARN, sessionID: session.sessionID, at: $0)
        }
        return [.sessionBegan(begun)] + (end.map { [$0] } ?? [])
    }
}
