import GRDB
import Wire

/// The history of one gateway, as its SQLite file has it.
struct EmbeddedHistory: HistoryReading {
    let database: Database

    init(_ database: Database) { self.database = database }

    func sessions(ofStage arn: String, after: (startTime: WallTime, sessionID: String)?, limit: Int) throws
        -> [StageSession]
    {
        try StageSession.fetch(
            database,
            where: "stageARN = ? AND (startTime, sessionID) < (?, ?) ORDER BY startTime DESC, sessionID DESC LIMIT ?",
            [
                arn, after?.startTime.nanosecondsSince1970 ?? .max, after?.sessionID ?? "~", limit,
            ])
    }

    func session(_ sessionID: String, ofStage arn: String) throws -> StageSession? {
        try StageSession.fetch(database, where: "stageARN = ? AND sessionID = ?", [arn, sessionID]).first
    }

    /// Sessions that have not ended.
    func activeSessions() throws -> [StageSession] {
        try StageSession.fetch(database, where: "endTime IS NULL", [])
    }

    func participants(
        ofStage arn: String, sessionID: String, matching filter: ParticipantFilter, after: String, limit: Int
    ) throws -> [Participant] {
        let (condition, value) = filter.condition
        return try Participant.fetch(
            database,
            where: "stageARN = ? AND sessionID = ? AND participantID > ? AND \(condition) ORDER BY participantID LIMIT ?",
            [arn, sessionID, after, value, limit])
    }

    func participant(_ participantID: String, ofStage arn: String, sessionID: String) throws -> Participant? {
        try Participant.fetch(
            database, where: "stageARN = ? AND sessionID = ? AND participantID = ?", [arn, sessionID, participantID]
        ).first
    }

    func knows(participant participantID: String, ofStage arn: String) throws -> Bool {
        try !Participant.fetch(database, where: "stageARN = ? AND participantID = ? LIMIT 1", [arn, participantID]).isEmpty
    }

    func events(
        ofStage arn: String, sessionID: String, participantID: String, after: Int64, limit: Int
    ) throws -> [ParticipantEvent] {
        try ParticipantEvent.fetch(
            database,
            where: """
                stageARN = ? AND sessionID = ? AND participantID = ? AND \(ParticipantEvent.isModelled) AND isListed AND sequence > ?
                    ORDER BY sequence LIMIT ?
                """,
            [arn, sessionID, participantID, after, limit])
    }

    func events(after: Int64, limit: Int) throws -> [ParticipantEvent] {
        try ParticipantEvent.fetch(database, where: "sequence > ? ORDER BY sequence LIMIT ?", [after, limit])
    }

    func undelivered(to target: String, after: Int64, limit: Int) throws -> [ParticipantEvent] {
        try ParticipantEvent.fetch(
            database,
            where: """
                sequence > ? AND sequence IN (SELECT sequence FROM outbox WHERE target = ?) ORDER BY sequence LIMIT ?
                """,
            [after, target, limit])
    }

    /// By way of the outbox (`+` keeps from the index): the stage may have had millions of events.
    func undelivered(
        to target: String, of participant: StageParticipant, in numbers: ClosedRange<Int64>, limit: Int
    ) throws -> [ParticipantEvent] {
        try ParticipantEvent.fetch(
            database,
            where: """
                +stageARN = ? AND +participantID = ? AND sequence IN
                    (SELECT sequence FROM outbox WHERE target = ? AND sequence BETWEEN ? AND ?) ORDER BY sequence LIMIT ?
                """,
            [participant.stageARN, participant.participantID, target, numbers.lowerBound, numbers.upperBound, limit])
    }

    func lastSequence() throws -> Int64 {
        try Int64.fetchOne(database, sql: "SELECT max(sequence) FROM event") ?? 0
    }

    /// The highest generation ever given to a publish.
    func highestGeneration() throws -> UInt64 {
        UInt64(max(0, try Int64.fetchOne(database, sql: "SELECT max(generation) FROM event") ?? 0))
    }
}

extension ParticipantFilter {
    fileprivate var condition: (sql: String, value: any DatabaseValueConvertible & Sendable) {
        switch self {
        case .none: ("?", true)
        case .userID(let id): ("userID = ?", id)
        case .published(let flag): ("published = ?", flag)
        case .connected(let flag): ("isConnected = ?", flag)
        case .recording(let state): ("recordingState = ?", state.rawValue)
        }
    }
}

extension StoredRecord {
    static func fetch(
        _ database: Database, where condition: String, _ arguments: [any DatabaseValueConvertible & Sendable]
    ) throws -> [Self] {
        let statement = try database.cachedStatement(sql: "SELECT * FROM \(table) WHERE \(condition)")
        return try Row.fetchAll(statement, arguments: StatementArguments(arguments.map(\.databaseValue))).map(Self.init(row:))
    }
}

extension StageSession: StoredRecord {
    static let table = "stageSession"
    static let columns = ["stageARN", "sessionID", "startTime", "endTime"]
    static let keyColumns = ["stageARN", "sessionID"]
    var values: [(any DatabaseValueConvertible & Sendable)?] {
        [stageARN, sessionID, startTime.nanosecondsSince1970, endTime?.nanosecondsSince1970]
    }

    init(row: Row) {
        let end: Int64? = row["endTime"]
        self.init(
            stageARN: row.text("stageARN"), sessionID: row.text("sessionID"), startTime: row.time("startTime"),
            endTime: end.map { WallTime(nanosecondsSince1970: $0) })
    }
}

extension Participant: StoredRecord {
    static let table = "participant"
    static let columns = [
        "stageARN", "sessionID", "participantID", "userID", "attributes", "isConnected", "published", "firstJoinTime",
        "ingestProtocol", "ingestConfigurationARN", "browserName", "browserVersion", "osName", "osVersion", "sdkVersion",
        "recordingState", "recordingBucket", "recordingPrefix", "replicationType", "replicationState", "sourceStageARN",
        "sourceSessionID",
    ]
    static let keyColumns = ["stageARN", "sessionID", "participantID"]
    /// The first join stays, and whoever published once has published, by that protocol also when it only watches now; recording and
    /// replication are told by themselves.
    static let mergedColumns = [
        "firstJoinTime": "firstJoinTime", "published": "max(published, excluded.published)",
        "ingestProtocol": "iif(excluded.ingestProtocol = '', ingestProtocol, excluded.ingestProtocol)",
        "ingestConfigurationARN":
            "iif(excluded.ingestProtocol = '', ingestConfigurationARN, excluded.ingestConfigurationARN)",
        "recordingState": "recordingState", "recordingBucket": "recordingBucket", "recordingPrefix": "recordingPrefix",
        "replicationType": "replicationType", "replicationState": "replicationState", "sourceStageARN": "sourceStageARN",
        "sourceSessionID": "sourceSessionID",
    ]
    var values: [(any DatabaseValueConvertible & Sendable)?] {
        [
            stageARN, sessionID, participantID, userID, StoredMap(attributes), isConnected, published,
            firstJoinTime.nanosecondsSince1970, ingestProtocol, ingestConfigurationARN, client.browserName,
            client.browserVersion, client.osName, client.osVersion, client.sdkVersion, recording?.state.rawValue ?? "",
            recording?.bucketName ?? "", recording?.prefix ?? "", replication?.part.rawValue ?? "",
            replication?.stateName ?? "", replication?.sourceStageARN ?? "", replication?.sourceSessionID ?? "",
        ]
    }

    init(row: Row) {
        var client = ClientAttributes()
        (client.browserName, client.browserVersion) = (row.text("browserName"), row.text("browserVersion"))
        (client.osName, client.osVersion) = (row.text("osName"), row.text("osVersion"))
        client.sdkVersion = row.text("sdkVersion")
        self.init(
            stageARN: row.text("stageARN"), sessionID: row.text("sessionID"), participantID: row.text("participantID"),
            userID: row.text("userID"), attributes: row.map("attributes"), firstJoinTime: row.time("firstJoinTime"),
            ingestProtocol: row.text("ingestProtocol"), ingestConfigurationARN: row.text("ingestConfigurationARN"),
            client: client)
        (isConnected, published) = (row.flag("isConnected"), row.flag("published"))
        recording = ParticipantRecording.State(rawValue: row.text("recordingState")).map {
            ParticipantRecording($0, bucketName: row.text("recordingBucket"), prefix: row.text("recordingPrefix"))
        }
        replication = ParticipantReplication.Part(rawValue: row.text("replicationType")).map {
            ParticipantReplication(
                $0, isActive: row.text("replicationState") == "ACTIVE", sourceStageARN: row.text("sourceStageARN"),
                sourceSessionID: row.text("sourceSessionID"))
        }
    }
}

extension ParticipantEvent: StoredRecord {
    static let table = "event"
    static let columns = [
        "sequence", "name", "time", "stageARN", "sessionID", "participantID", "userID", "errorCode", "generation", "rule",
        "sentence", "recordingBucket", "recordingPrefix", "recordingDuration", "remoteParticipantID",
        "destinationStageARN", "destinationSessionID", "isReplica",
    ]
    static let keyColumns = ["sequence"]

    /// As a condition: what the API model knows.
    static let isModelled = "name NOT IN (\(Name.unmodelled.map { "'\($0.rawValue)'" }.joined(separator: ", ")))"

    /// A sequence of 0 becomes NULL, for which SQLite puts the next number.
    var values: [(any DatabaseValueConvertible & Sendable)?] {
        [
            sequence == 0 ? nil : sequence, name.rawValue, time.nanosecondsSince1970, stageARN, sessionID, participantID,
            userID, errorCode, Int64(clamping: generation), rule, sentence, recording?.bucketName ?? "", recording?.prefix ?? "",
            recording?.duration, remoteParticipantID, destination?.stageARN ?? "", destination?.sessionID ?? "", isReplica,
        ]
    }

    init(row: Row) {
        let generation: Int64 = row["generation"] ?? 0
        self.init(
            name: Name(rawValue: row.text("name")) ?? .left, time: row.time("time"), stageARN: row.text("stageARN"),
            sessionID: row.text("sessionID"), participantID: row.text("participantID"), userID: row.text("userID"),
            errorCode: row.text("errorCode"), generation: UInt64(max(0, generation)))
        sequence = row["sequence"] ?? 0
        (rule, sentence) = (row.text("rule"), row.text("sentence"))
        if !row.text("recordingBucket").isEmpty {
            recording = Recording(
                bucketName: row.text("recordingBucket"), prefix: row.text("recordingPrefix"), duration: row["recordingDuration"])
        }
        remoteParticipantID = row.text("remoteParticipantID")
        isReplica = row.flag("isReplica")
        if !row.text("destinationStageARN").isEmpty {
            destination = Destination(stageARN: row.text("destinationStageARN"), sessionID: row.text("destinationSessionID"))
        }
    }
}
