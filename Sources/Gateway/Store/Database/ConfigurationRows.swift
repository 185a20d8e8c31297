import GRDB
import Wire

extension Stage: StoredRecord {
    static let table = "stage"
    static let columns = ["arn", "name", "tags", "recording", "createdAt"]
    static let keyColumns = ["arn"]

    /// `recording` is empty while nothing is recorded.
    var values: [(any DatabaseValueConvertible & Sendable)?] {
        [arn, name, StoredMap(tags), recording.storedText, createdAt.nanosecondsSince1970]
    }

    init(row: Row) {
        self.init(arn: row.text("arn"), name: row.text("name"), tags: row.map("tags"), createdAt: row.time("createdAt"))
        recording = RecordingConfiguration(storedText: row.text("recording")) ?? RecordingConfiguration()
    }
}

extension PublicKey: StoredRecord {
    static let table = "publicKey"
    static let columns = ["arn", "name", "material", "fingerprint", "tags", "createdAt"]
    static let keyColumns = ["arn"]
    var values: [(any DatabaseValueConvertible & Sendable)?] {
        [arn, name, material, fingerprint, StoredMap(tags), createdAt.nanosecondsSince1970]
    }

    init(row: Row) {
        self.init(
            arn: row.text("arn"), name: row.text("name"), material: row.text("material"),
            fingerprint: row.text("fingerprint"), tags: row.map("tags"), createdAt: row.time("createdAt"))
    }
}

extension IngestConfiguration: StoredRecord {
    static let table = "ingestConfiguration"
    static let columns = [
        "arn", "name", "stageARN", "participantID", "streamKey", "transport", "insecureIngest", "redundantIngest",
        "redundantCredentials", "userID", "attributes", "tags", "createdAt",
    ]
    static let keyColumns = ["arn"]

    /// `redundantCredentials` maps participant ids to stream keys.
    var values: [(any DatabaseValueConvertible & Sendable)?] {
        let credentials = redundantCredentials.map { ($0.participantID, $0.streamKey.revealText()) }
        return [
            arn, name, stageARN, participantID, streamKey.revealText(), transport.rawValue, insecureIngest, redundantIngest,
            StoredMap(Dictionary(uniqueKeysWithValues: credentials)), userID, StoredMap(attributes), StoredMap(tags),
            createdAt.nanosecondsSince1970,
        ]
    }

    init(row: Row) {
        self.init(
            arn: row.text("arn"), name: row.text("name"), stageARN: row.text("stageARN"),
            participantID: row.text("participantID"), streamKey: Secret(row.text("streamKey")),
            transport: Transport(rawValue: row.text("transport")) ?? .rtmps, insecureIngest: row.flag("insecureIngest"),
            createdAt: row.time("createdAt"))
        redundantIngest = row.flag("redundantIngest")
        redundantCredentials = row.map("redundantCredentials").sorted { $0.key < $1.key }.map {
            Credential(participantID: $0.key, streamKey: Secret($0.value))
        }
        (userID, attributes, tags) = (row.text("userID"), row.map("attributes"), row.map("tags"))
    }
}

extension StorageConfiguration: StoredRecord {
    static let table = "storageConfiguration"
    static let columns = ["arn", "name", "bucketName", "tags", "createdAt"]
    static let keyColumns = ["arn"]
    var values: [(any DatabaseValueConvertible & Sendable)?] {
        [arn, name, bucketName, StoredMap(tags), createdAt.nanosecondsSince1970]
    }

    init(row: Row) {
        self.init(
            arn: row.text("arn"), name: row.text("name"), bucketName: row.text("bucketName"), tags: row.map("tags"),
            createdAt: row.time("createdAt"))
    }
}

extension Revocation: StoredRecord {
    static let table = "revocation"
    static let columns = ["stageARN", "participantID", "expiresAt"]
    static let keyColumns = ["stageARN", "participantID"]
    var values: [(any DatabaseValueConvertible & Sendable)?] { [stageARN, participantID, expiresAt.nanosecondsSince1970] }

    init(row: Row) {
        self.init(
            stageARN: row.text("stageARN"), participantID: row.text("participantID"), expiresAt: row.time("expiresAt"))
    }
}

extension Placement: StoredRecord {
    static let table = "placement"
    static let columns = ["stageID", "replica", "router", "generation"]
    static let keyColumns = ["stageID", "replica"]
    var values: [(any DatabaseValueConvertible & Sendable)?] { [key.stageID, key.replica, router, Int64(clamping: generation)] }

    init(row: Row) {
        let generation: Int64 = row["generation"] ?? 0
        self.init(
            key: Key(stageID: row.text("stageID"), replica: row["replica"] ?? 0), router: row.text("router"),
            generation: UInt64(max(0, generation)))
    }
}

extension Replication: StoredRecord {
    static let table = "replication"
    static let columns = [
        "sourceStageARN", "participantID", "destinationStageARN", "number", "attributes", "reconnectWindow", "state",
        "refusedBy", "sourceSessionID", "destinationSessionID", "sourceGeneration", "startedAt",
    ]
    static let keyColumns = ["sourceStageARN", "participantID", "destinationStageARN"]
    var values: [(any DatabaseValueConvertible & Sendable)?] {
        [
            key.sourceStageARN, key.participantID, key.destinationStageARN, number, StoredMap(attributes), reconnectWindow,
            state.rawValue, refusedBy, sourceSessionID, destinationSessionID, Int64(clamping: sourceGeneration),
            startedAt.nanosecondsSince1970,
        ]
    }

    init(row: Row) {
        self.init(
            Key(row.text("participantID"), from: row.text("sourceStageARN"), to: row.text("destinationStageARN")),
            number: row.text("number"), attributes: row.map("attributes"), reconnectWindow: row["reconnectWindow"] ?? 0,
            startedAt: row.time("startedAt"))
        let generation: Int64 = row["sourceGeneration"] ?? 0
        (state, refusedBy) = (State(rawValue: row.text("state")) ?? .stopped, row["refusedBy"] ?? 0)
        (sourceSessionID, destinationSessionID) = (row.text("sourceSessionID"), row.text("destinationSessionID"))
        sourceGeneration = UInt64(max(0, generation))
    }
}

extension Setting: StoredRecord {
    static let table = "setting"
    static let columns = ["name", "value"]
    static let keyColumns = ["name"]
    var values: [(any DatabaseValueConvertible & Sendable)?] { [name, value.revealText()] }

    init(row: Row) { self.init(name: row.text("name"), value: Secret(row.text("value"))) }
}
