import GRDB

/// As the rows about it are found, and name it.
extension SessionParticipant {
    static let condition = "stageARN = ? AND sessionID = ? AND participantID = ?"

    /// For `condition`.
    var arguments: StatementArguments { [stageARN, sessionID, participantID] }

    init(_ row: Row) {
        self.init(row.text("participantID"), ofStage: row.text("stageARN"), sessionID: row.text("sessionID"))
    }
}
