import GRDB
import Wire

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
    /// The first join stays, and whoever published once has published, by that protocol also when it only watches now; recording
    /// and replication are told by themselves.
    static let mergedColumns = [
        "firstJoinTime": firstJoin, "published": "max(published, excluded.published)",
        "ingestProtocol": "iif(excluded.ingestProtocol = '', ingestProtocol, excluded.ingestProtocol)",
        "ingestConfigurationARN":
            "iif(excluded.ingestProtocol = '', ingestConfigurationARN, excluded.ingestConfigurationARN)",
        "recordingState": "recordingState", "recordingBucket": "recordingBucket", "recordingPrefix": "recordingPrefix",
        "replicationType": "replicationType", "replicationState": "replicationState", "sourceStageARN": "sourceStageARN",
        "sourceSessionID": "sourceSessionID",
    ]
    /// Who was only turned away until now joins now.
    private static let firstJoin = """
        iif(excluded.isConnected > isConnected AND NOT published AND NOT EXISTS (SELECT 1 FROM event
            WHERE event.stageARN = participant.stageARN AND event.sessionID = participant.sessionID
                AND event.participantID = participant.participantID AND event.name = '\(ParticipantEvent.Name.joined.rawValue)'
                AND event.isListed),
            excluded.firstJoinTime, firstJoinTime)
        """
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
            SessionParticipant(row), userID: row.text("userID"), attributes: row.map("attributes"),
            firstJoinTime: row.time("firstJoinTime"), ingestProtocol: row.text("ingestProtocol"),
            ingestConfigurationARN: row.text("ingestConfigurationARN"), client: client)
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
            name: Name(rawValue: row.text("name")) ?? .left, time: row.time("time"), of: SessionParticipant(row),
            userID: row.text("userID"), errorCode: row.text("errorCode"), generation: UInt64(max(0, generation)))
        sequence = row["sequence"] ?? 0
        (rule, sentence) = (row.text("rule"), row.text("sentence"))
        if name.isAboutRecording {
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
