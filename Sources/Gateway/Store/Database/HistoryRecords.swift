import GRDB
import Wire

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
    ]
    static let keyColumns = ["stageARN", "sessionID", "participantID"]
    /// The first join stays, and whoever published once has published.
    static let mergedColumns = ["firstJoinTime": "firstJoinTime", "published": "max(published, excluded.published)"]
    var values: [(any DatabaseValueConvertible & Sendable)?] {
        [
            stageARN, sessionID, participantID, userID, StoredMap(attributes), isConnected, published,
            firstJoinTime.nanosecondsSince1970, ingestProtocol, ingestConfigurationARN, client.browserName,
            client.browserVersion, client.osName, client.osVersion, client.sdkVersion,
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
    }
}

extension ParticipantEvent: StoredRecord {
    static let table = "event"
    static let columns = [
        "sequence", "name", "time", "stageARN", "sessionID", "participantID", "userID", "errorCode", "generation", "rule",
        "sentence",
    ]
    static let keyColumns = ["sequence"]

    /// A sequence of 0 becomes NULL, for which SQLite puts the next number.
    var values: [(any DatabaseValueConvertible & Sendable)?] {
        [
            sequence == 0 ? nil : sequence, name.rawValue, time.nanosecondsSince1970, stageARN, sessionID, participantID,
            userID, errorCode, Int64(generation), rule, sentence,
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
    }
}
