import GRDB
import Wire

extension Stage: StoredRecord {
    static let table = "stage"
    static let columns = ["arn", "name", "tags", "createdAt"]
    static let keyColumns = ["arn"]
    var values: [(any DatabaseValueConvertible & Sendable)?] { [arn, name, StoredMap(tags), createdAt.nanosecondsSince1970] }

    init(row: Row) {
        self.init(arn: row.text("arn"), name: row.text("name"), tags: row.map("tags"), createdAt: row.time("createdAt"))
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
    var values: [(any DatabaseValueConvertible & Sendable)?] { [key.stageID, key.replica, router, Int64(generation)] }

    init(row: Row) {
        let generation: Int64 = row["generation"] ?? 0
        self.init(
            key: Key(stageID: row.text("stageID"), replica: row["replica"] ?? 0), router: row.text("router"),
            generation: UInt64(max(0, generation)))
    }
}

extension Setting: StoredRecord {
    static let table = "setting"
    static let columns = ["name", "value"]
    static let keyColumns = ["name"]
    var values: [(any DatabaseValueConvertible & Sendable)?] { [name, value.revealText()] }

    init(row: Row) { self.init(name: row.text("name"), value: Secret(row.text("value"))) }
}
