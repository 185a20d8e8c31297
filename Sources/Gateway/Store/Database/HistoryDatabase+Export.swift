import GRDB
import Wire

/// The history as the writes that would make it again.
extension HistoryDatabase {
    /// In the order in which they have to be written.
    enum Part: CaseIterable {
        case sessions, participants, events
    }

    func endAbandoned(at now: WallTime) throws {
        try change { try endAbandonedPublishes(at: now, sparing: [], $0) }
    }

    func writes(_ part: Part, offset: Int, limit: Int) throws -> [HistoryWrite] {
        var writes: [HistoryWrite] = []
        try read { history in
            writes = (try? Self.writes(part, offset: offset, limit: limit, history.database)) ?? []
        }
        return writes
    }

    private static func writes(_ part: Part, offset: Int, limit: Int, _ database: Database) throws -> [HistoryWrite] {
        let page = "ORDER BY 1, 2, 3 LIMIT ? OFFSET ?"
        switch part {
        case .sessions:
            return try StageSession.fetch(database, where: "true \(page)", [limit, offset]).flatMap { session in
                var begun = session
                begun.endTime = nil
                let end = session.endTime.map {
                    HistoryWrite.sessionEnded(stageARN: session.stageARN, sessionID: session.sessionID, at: $0)
                }
                return [.sessionBegan(begun)] + (end.map { [$0] } ?? [])
            }
        case .participants:
            return try Participant.fetch(database, where: "true \(page)", [limit, offset]).map(HistoryWrite.participant)
        case .events:
            return try ParticipantEvent.fetch(database, where: "true \(page)", [limit, offset]).map(HistoryWrite.event)
        }
    }
}
