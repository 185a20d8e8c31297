import GRDB

/// How participants' recordings stand. A recording may begin before its participant does, which is when its publish is known to
/// go well: it is kept until then.
struct ParticipantRecordings {
    private static let update = """
        UPDATE participant SET recordingState = ?, recordingBucket = ?, recordingPrefix = ?
            WHERE \(SessionParticipant.condition)
        """

    private let database: Database

    init(_ database: Database) { self.database = database }

    func set(_ recording: ParticipantRecording, of participant: SessionParticipant) throws {
        guard try !isFormer(recording, of: participant) else { return }
        let arguments: StatementArguments = [recording.state.rawValue, recording.bucketName, recording.prefix]
        try database.execute(sql: Self.update, arguments: arguments + participant.arguments)
        if database.changesCount == 0 {
            try database.execute(
                sql: """
                    INSERT OR REPLACE INTO earlyRecording (state, bucket, prefix, stageARN, sessionID, participantID)
                        VALUES (?, ?, ?, ?, ?, ?)
                    """,
                arguments: arguments + participant.arguments)
        }
    }

    /// What comes late of a former recording says nothing over one that goes on.
    private func isFormer(_ recording: ParticipantRecording, of participant: SessionParticipant) throws -> Bool {
        guard recording.state != .starting else { return false }
        let shown = try Row.fetchOne(
            database,
            sql: "SELECT recordingState, recordingPrefix FROM participant WHERE \(SessionParticipant.condition)",
            arguments: participant.arguments)
        let goesOn = [ParticipantRecording.State.starting, .active].contains { $0.rawValue == shown?.text("recordingState") }
        return goesOn && shown?.text("recordingPrefix") != recording.prefix
    }

    /// The participant has begun.
    func takeEarly(of participant: SessionParticipant) throws {
        let found = try Row.fetchOne(
            database,
            sql: """
                SELECT state, bucket, prefix FROM earlyRecording
                    WHERE \(SessionParticipant.condition)
                """, arguments: participant.arguments)
        guard let found else { return }
        let recording: StatementArguments = [found.text("state"), found.text("bucket"), found.text("prefix")]
        try database.execute(sql: Self.update, arguments: recording + participant.arguments)
        try database.execute(
            sql: "DELETE FROM earlyRecording WHERE \(SessionParticipant.condition)", arguments: participant.arguments)
    }
}
