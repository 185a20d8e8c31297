import JSON
import Store
import Wire

/// Records as the JSON that Redis keeps: times as whole nanoseconds since 1970, secrets encrypted.
struct RecordCodec: Sendable {
    let cipher: RecordCipher

    /// - Parameter key: where the record is kept, which its secrets are bound to.
    func encode(_ record: Record, key: String) -> String {
        let object: JSONObject =
            switch record {
            case .stage(let stage): encode(stage)
            case .publicKey(let publicKey): encode(publicKey)
            case .ingestConfiguration(let configuration): encode(configuration, key: key)
            case .storageConfiguration(let configuration): encode(configuration)
            case .revocation(let entry):
                [
                    "stageArn": .string(entry.stageARN), "participantId": .string(entry.participantID),
                    "expiresAt": .time(entry.expiresAt),
                ]
            case .placement(let placement):
                [
                    "stageId": .string(placement.key.stageID), "replica": .integer(Int64(placement.key.replica)),
                    "router": .string(placement.router), "generation": .integer(Int64(clamping: placement.generation)),
                ]
            case .replication(let replication): encode(replication)
            case .setting(let setting):
                ["name": .string(setting.name), "value": .string(cipher.seal(setting.value, at: key))]
            }
        return JSONValue.object(object).description
    }

    /// - Parameter key: its end says which kind of record it is.
    func decode(_ text: String, key: String) throws(RecordError) -> Record {
        guard let fields = try? JSONValue(parsing: text) else { throw .malformed }
        let suffix = key.split(separator: "}", maxSplits: 1).last ?? ""
        if key.contains("{settings}:") { return .setting(try setting(fields, key: key)) }
        switch suffix {
        case ":stage": return .stage(try stage(fields))
        case ":publickey": return .publicKey(try publicKey(fields))
        case ":storage": return .storageConfiguration(try storageConfiguration(fields))
        case ":ingest": return .ingestConfiguration(try ingestConfiguration(fields, key: key))
        case _ where suffix.hasPrefix(":placement:"): return .placement(try placement(fields))
        case _ where suffix.hasPrefix(":revocation:"): return .revocation(try revocation(fields))
        case _ where suffix.hasPrefix(":replication:"): return .replication(try replication(fields))
        default: throw .malformed
        }
    }
}

// MARK: - One kind each

extension RecordCodec {
    private func encode(_ stage: Stage) -> JSONObject {
        var object: JSONObject = [
            "arn": .string(stage.arn), "name": .string(stage.name), "tags": .map(stage.tags), "createdAt": .time(stage.createdAt),
        ]
        let recording = stage.recording.storedText
        if !recording.isEmpty { object["recording"] = .string(recording) }
        return object
    }

    private func stage(_ fields: JSONValue) throws(RecordError) -> Stage {
        var stage = Stage(
            arn: try fields.text("arn"), name: try fields.text("name"), tags: try fields.map("tags"),
            createdAt: try fields.time("createdAt"))
        if let text = fields["recording"]?.string {
            guard let recording = RecordingConfiguration(storedText: text) else { throw .malformed }
            stage.recording = recording
        }
        return stage
    }

    private func encode(_ configuration: StorageConfiguration) -> JSONObject {
        [
            "arn": .string(configuration.arn), "name": .string(configuration.name),
            "bucketName": .string(configuration.bucketName), "tags": .map(configuration.tags),
            "createdAt": .time(configuration.createdAt),
        ]
    }

    private func storageConfiguration(_ fields: JSONValue) throws(RecordError) -> StorageConfiguration {
        StorageConfiguration(
            arn: try fields.text("arn"), name: try fields.text("name"), bucketName: try fields.text("bucketName"),
            tags: try fields.map("tags"), createdAt: try fields.time("createdAt"))
    }

    private func encode(_ key: PublicKey) -> JSONObject {
        [
            "arn": .string(key.arn), "name": .string(key.name), "material": .string(key.material),
            "fingerprint": .string(key.fingerprint), "tags": .map(key.tags), "createdAt": .time(key.createdAt),
        ]
    }

    private func publicKey(_ fields: JSONValue) throws(RecordError) -> PublicKey {
        PublicKey(
            arn: try fields.text("arn"), name: try fields.text("name"), material: try fields.text("material"),
            fingerprint: try fields.text("fingerprint"), tags: try fields.map("tags"), createdAt: try fields.time("createdAt"))
    }

    private func encode(_ configuration: IngestConfiguration, key: String) -> JSONObject {
        [
            "arn": .string(configuration.arn), "name": .string(configuration.name), "stageArn": .string(configuration.stageARN),
            "credentials": .array(configuration.credentials.map { .object(encode($0, key: key)) }),
            "transport": .string(configuration.transport.rawValue), "insecureIngest": .bool(configuration.insecureIngest),
            "redundantIngest": .bool(configuration.redundantIngest), "userId": .string(configuration.userID),
            "attributes": .map(configuration.attributes), "tags": .map(configuration.tags),
            "createdAt": .time(configuration.createdAt),
        ]
    }

    private func encode(_ credential: IngestConfiguration.Credential, key: String) -> JSONObject {
        [
            "participantId": .string(credential.participantID), "keyHash": .string(cipher.lookUp(credential.streamKey)),
            "key": .string(cipher.seal(credential.streamKey, at: "\(key) \(credential.participantID)")),
        ]
    }

    private func ingestConfiguration(_ fields: JSONValue, key: String) throws(RecordError) -> IngestConfiguration {
        var credentials: [IngestConfiguration.Credential] = []
        for entry in fields["credentials"]?.array ?? [] { credentials.append(try credential(entry, key: key)) }
        guard let first = credentials.first, let transport = IngestConfiguration.Transport(rawValue: try fields.text("transport"))
        else { throw .malformed }
        var configuration = IngestConfiguration(
            arn: try fields.text("arn"), name: try fields.text("name"), stageARN: try fields.text("stageArn"),
            participantID: first.participantID, streamKey: first.streamKey, transport: transport,
            insecureIngest: try fields.flag("insecureIngest"), createdAt: try fields.time("createdAt"))
        configuration.redundantIngest = try fields.flag("redundantIngest")
        configuration.redundantCredentials = Array(credentials.dropFirst())
        configuration.userID = try fields.text("userId")
        (configuration.attributes, configuration.tags) = (try fields.map("attributes"), try fields.map("tags"))
        return configuration
    }

    private func credential(_ fields: JSONValue, key: String) throws(RecordError) -> IngestConfiguration.Credential {
        let participantID = try fields.text("participantId")
        let streamKey = try cipher.open(try fields.text("key"), at: "\(key) \(participantID)")
        guard cipher.lookUp(streamKey) == (try fields.text("keyHash")) else { throw .undecipherable }
        return IngestConfiguration.Credential(participantID: participantID, streamKey: streamKey)
    }

    private func revocation(_ fields: JSONValue) throws(RecordError) -> Revocation {
        Revocation(
            stageARN: try fields.text("stageArn"), participantID: try fields.text("participantId"),
            expiresAt: try fields.time("expiresAt"))
    }

    private func placement(_ fields: JSONValue) throws(RecordError) -> Placement {
        let (replica, generation) = (try fields.number("replica"), try fields.number("generation"))
        guard let replica = Int(exactly: replica), let generation = UInt64(exactly: generation) else { throw .malformed }
        return Placement(
            key: Placement.Key(stageID: try fields.text("stageId"), replica: replica), router: try fields.text("router"),
            generation: generation)
    }

    private func encode(_ replication: Replication) -> JSONObject {
        let key = replication.key
        return [
            "sourceStageArn": .string(key.sourceStageARN), "participantId": .string(key.participantID),
            "destinationStageArn": .string(key.destinationStageARN), "number": .string(replication.number),
            "attributes": .map(replication.attributes), "reconnectWindow": .integer(Int64(replication.reconnectWindow)),
            "state": .string(replication.state.rawValue), "refusedBy": .integer(Int64(replication.refusedBy)),
            "sourceSessionId": .string(replication.sourceSessionID),
            "destinationSessionId": .string(replication.destinationSessionID),
            "sourceGeneration": .integer(Int64(clamping: replication.sourceGeneration)),
            "startedAt": .time(replication.startedAt),
        ]
    }

    private func replication(_ fields: JSONValue) throws(RecordError) -> Replication {
        let key = Replication.Key(
            try fields.text("participantId"), from: try fields.text("sourceStageArn"),
            to: try fields.text("destinationStageArn"))
        let (window, refusedBy) = (try fields.number("reconnectWindow"), try fields.number("refusedBy"))
        guard let state = Replication.State(rawValue: try fields.text("state")), let window = Int(exactly: window),
            let refusedBy = Int(exactly: refusedBy), let generation = UInt64(exactly: try fields.number("sourceGeneration"))
        else { throw .malformed }
        var replication = Replication(
            key, number: try fields.text("number"), attributes: try fields.map("attributes"), reconnectWindow: window,
            startedAt: try fields.time("startedAt"))
        (replication.state, replication.refusedBy, replication.sourceGeneration) = (state, refusedBy, generation)
        replication.sourceSessionID = try fields.text("sourceSessionId")
        replication.destinationSessionID = try fields.text("destinationSessionId")
        return replication
    }

    private func setting(_ fields: JSONValue, key: String) throws(RecordError) -> Setting {
        Setting(name: try fields.text("name"), value: try cipher.open(try fields.text("value"), at: key))
    }
}

/// The kinds of fields that records have.
extension JSONValue {
    static func time(_ time: WallTime) -> JSONValue { .integer(time.nanosecondsSince1970) }

    /// With sorted names, so that equal maps are equal text.
    static func map(_ map: [String: String]) -> JSONValue {
        .object(JSONObject(map.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) }))
    }

    func text(_ name: String) throws(RecordError) -> String {
        guard let text = self[name]?.string else { throw .malformed }
        return text
    }

    func flag(_ name: String) throws(RecordError) -> Bool {
        guard let flag = self[name]?.bool else { throw .malformed }
        return flag
    }

    func number(_ name: String) throws(RecordError) -> Int64 {
        guard let number = self[name]?.integer else { throw .malformed }
        return number
    }

    func time(_ name: String) throws(RecordError) -> WallTime { WallTime(nanosecondsSince1970: try number(name)) }

    func map(_ name: String) throws(RecordError) -> [String: String] {
        guard let members = self[name]?.object?.members else { throw .malformed }
        var map: [String: String] = [:]
        for (name, value) in members {
            guard let value = value.string else { throw .malformed }
            map[name] = value
        }
        return map
    }
}
