import JSON
import Store
import Wire

/// The structures of answers, with the model's member names. As in IVS' answers, texts may be empty; other members without a
/// value are left out.
enum Output {
    static func tags(_ tags: [String: String]) -> JSONValue { map(tags) }

    static func map(_ map: [String: String]) -> JSONValue {
        .object(JSONObject(map.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) }))
    }

    static func time(_ time: WallTime) -> JSONValue { .string(CivilTime(time).rfc3339) }

    static func stage(_ stage: Stage, endpoints: StageEndpoints?, activeSessionID: String?) -> JSONValue {
        var object: JSONObject = ["arn": .string(stage.arn), "name": .string(stage.name)]
        if let activeSessionID { object["activeSessionId"] = .string(activeSessionID) }
        object["tags"] = tags(stage.tags)
        guard let endpoints else { return .object(object) }
        object["autoParticipantRecordingConfiguration"] = recording(stage.recording)
        object["endpoints"] = [
            "events": .string(endpoints.events), "whip": .string(endpoints.whip), "rtmp": .string(endpoints.rtmp),
            "rtmps": .string(endpoints.rtmps),
        ]
        return .object(object)
    }

    private static func recording(_ recording: RecordingConfiguration) -> JSONValue {
        let thumbnails = recording.thumbnails
        return [
            "storageConfigurationArn": .string(recording.storageARN), "mediaTypes": [.string(recording.media.rawValue)],
            "thumbnailConfiguration": [
                "targetIntervalSeconds": .integer(Int64(thumbnails.interval)),
                "storage": .array(thumbnails.storage.map { .string($0.rawValue) }),
                "recordingMode": thumbnails.isEnabled ? "INTERVAL" : "DISABLED",
            ],
            "recordingReconnectWindowSeconds": .integer(Int64(recording.reconnectWindow)),
            "hlsConfiguration": ["targetSegmentDurationSeconds": .integer(Int64(recording.segmentDuration))],
            "recordParticipantReplicas": .bool(recording.recordsReplicas),
        ]
    }

    static func storageConfiguration(_ configuration: StorageConfiguration) -> JSONValue {
        [
            "arn": .string(configuration.arn), "name": .string(configuration.name),
            "s3": ["bucketName": .string(configuration.bucketName)], "tags": tags(configuration.tags),
        ]
    }

    static func publicKeySummary(_ key: PublicKey) -> JSONValue {
        ["arn": .string(key.arn), "name": .string(key.name), "tags": tags(key.tags)]
    }

    static func publicKey(_ key: PublicKey) -> JSONValue {
        [
            "arn": .string(key.arn), "name": .string(key.name), "publicKeyMaterial": .string(key.material),
            "fingerprint": .string(key.fingerprint), "tags": tags(key.tags),
        ]
    }

    /// A list does not show stream keys: they are in the answer for one configuration alone.
    static func ingestConfigurationSummary(_ configuration: IngestConfiguration, isActive: Bool) -> JSONObject {
        [
            "arn": .string(configuration.arn), "name": .string(configuration.name),
            "ingestProtocol": .string(configuration.transport.rawValue), "stageArn": .string(configuration.stageARN),
            "participantId": .string(configuration.participantID), "state": isActive ? "ACTIVE" : "INACTIVE",
            "userId": .string(configuration.userID), "redundantIngest": .bool(configuration.redundantIngest),
        ]
    }

    static func ingestConfiguration(_ configuration: IngestConfiguration, isActive: Bool) -> JSONValue {
        var object = ingestConfigurationSummary(configuration, isActive: isActive)
        object["streamKey"] = .string(configuration.streamKey.revealText())
        if configuration.redundantIngest {
            object["redundantIngestCredentials"] = .array(
                configuration.redundantCredentials.map {
                    ["participantId": .string($0.participantID), "streamKey": .string($0.streamKey.revealText())]
                })
        }
        if !configuration.attributes.isEmpty { object["attributes"] = map(configuration.attributes) }
        object["tags"] = tags(configuration.tags)
        return .object(object)
    }

    static func session(_ session: StageSession) -> JSONValue {
        var object: JSONObject = ["sessionId": .string(session.sessionID), "startTime": time(session.startTime)]
        if let endTime = session.endTime { object["endTime"] = time(endTime) }
        return .object(object)
    }

    /// - Parameter isRedundant: whether it is one of two encoders that bring the same.
    static func participantSummary(_ participant: Participant, isRedundant: Bool) -> JSONObject {
        var object: JSONObject = [
            "participantId": .string(participant.participantID), "userId": .string(participant.userID),
            "state": participant.isConnected ? "CONNECTED" : "DISCONNECTED", "firstJoinTime": time(participant.firstJoinTime),
            "published": .bool(participant.published),
            "replicationType": .string(participant.replication?.part.rawValue ?? "NONE"),
        ]
        if let replication = participant.replication {
            object["replicationState"] = .string(replication.stateName)
            object["sourceStageArn"] = .string(replication.sourceStageARN)
            object["sourceSessionId"] = .string(replication.sourceSessionID)
        }
        object["redundantIngest"] = .bool(isRedundant)
        object["recordingState"] = .string(participant.recording?.state.rawValue ?? "DISABLED")
        if !participant.ingestConfigurationARN.isEmpty {
            object["ingestConfigurationArn"] = .string(participant.ingestConfigurationARN)
        }
        return object
    }

    static func participant(_ participant: Participant, isRedundant: Bool) -> JSONValue {
        var object = participantSummary(participant, isRedundant: isRedundant)
        if !participant.attributes.isEmpty { object["attributes"] = map(participant.attributes) }
        object["protocol"] = .string(participant.ingestProtocol.isEmpty ? "UNKNOWN" : participant.ingestProtocol)
        object["recordingS3BucketName"] = .string(participant.recording?.bucketName ?? "")
        object["recordingS3Prefix"] = .string(participant.recording?.prefix ?? "")
        let client = participant.client
        for (name, value) in [
            ("osName", client.osName), ("osVersion", client.osVersion), ("browserName", client.browserName),
            ("browserVersion", client.browserVersion), ("sdkVersion", client.sdkVersion),
            // Nobody is asked whose network an address is.
            ("ispName", ""),
        ] { object[name] = .string(value) }
        return .object(object)
    }

    static func replica(_ replication: Replication) -> JSONValue {
        [
            "sourceStageArn": .string(replication.key.sourceStageARN), "participantId": .string(replication.key.participantID),
            "sourceSessionId": .string(replication.sourceSessionID),
            "destinationStageArn": .string(replication.key.destinationStageARN),
            "destinationSessionId": .string(replication.destinationSessionID),
            "replicationState": .string(replication.isTaken ? "ACTIVE" : "STOPPED"),
        ]
    }

    static func event(_ event: ParticipantEvent) -> JSONValue {
        var object: JSONObject = [
            "name": .string(event.name.rawValue), "participantId": .string(event.participantID), "eventTime": time(event.time),
        ]
        if !event.errorCode.isEmpty { object["errorCode"] = .string(event.errorCode) }
        if !event.remoteParticipantID.isEmpty { object["remoteParticipantId"] = .string(event.remoteParticipantID) }
        if let destination = event.destination {
            object["destinationStageArn"] = .string(destination.stageARN)
            object["destinationSessionId"] = .string(destination.sessionID)
        }
        if event.isReplica { object["replica"] = .bool(true) }
        return .object(object)
    }
}
