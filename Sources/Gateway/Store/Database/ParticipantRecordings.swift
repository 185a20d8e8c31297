import GRDB

/// How participants' recordings stand. A recording may begin before its participant does, which is when its publish is known to go
/// well: it is kept until then.
struct ParticipantRecordings {
    private static let update = """
        UPDATE participant SET recordingState = ?, recordingBucket = ?, recordingPrefix = ?
            WHERE stageARN = ? AND sessionID = ? AND participantID = ?
        """

    private let database: Database

    init(_ database: Database) { self.database = database }

    func set(_ recording: ParticipantRecording, of participant: SessionParticipant) throws {
        let arguments: StatementArguments = [recording.state.rawValue, recording.bucketName, recording.prefix]
        try database.execute(sql: Self.update, arguments: arguments + participant.arguments)
        if database.changesCount == 0 {
            try database.execute(
                sql: "INSERT OR REPLACE INTO earlyRecording VALUES (?, ?, ?, ?, ?, ?)",
                arguments: arguments + participant.arguments)
        }
    }

    /// The participant has begun.
    func takeEarly(of participant: SessionParticipant) throws {
        let found = try Row.fetchOne(
            database,
            sql: """
                SELECT state, bucket, prefix FROM earlyRecording
                    WHERE stageARN = ? AND sessionID = ? AND participantID = ?
                """, arguments: participant.arguments)
        guard let found else { return }
        let recording: StatementArguments = [found.text("state"), found.text("bucket"), found.text("prefix")]
        try database.execute(sql: Self.update, arguments: recording + participant.arguments)
        try database.execute(
            sql: "DELETE FROM earlyRecording WHERE \(SessionParticipant.condition)", arguments: participant.arguments)
    }
}
