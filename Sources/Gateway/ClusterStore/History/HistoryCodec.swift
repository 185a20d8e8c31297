import JSON
import Store
import Wire

/// Participants and events as the JSON that Redis keeps. All is text, because scripts' numbers have 53 bits.
enum HistoryCodec {
    static func encode(_ participant: Participant) -> String {
        let client = participant.client
        let object: JSONObject = [
            "userId": .string(participant.userID), "attributes": .map(participant.attributes),
            "firstJoinTime": .string("\(participant.firstJoinTime.nanosecondsSince1970)"),
            "ingestProtocol": .string(participant.ingestProtocol),
            "ingestConfigurationArn": .string(participant.ingestConfigurationARN), "browserName": .string(client.browserName),
            "browserVersion": .string(client.browserVersion), "osName": .string(client.osName),
            "osVersion": .string(client.osVersion), "sdkVersion": .string(client.sdkVersion),
        ]
        return JSONValue.object(object).description
    }

    /// From the whole record that scripts keep of a participant; nil when it is none.
    static func participant(_ text: String, _ participant: SessionParticipant) -> Participant? {
        guard let record = try? JSONValue(parsing: text), let about = record["about"],
            let joined = try? about.text("firstJoinTime"), let time = Int64(joined), time >= 0
        else { return nil }
        func word(_ name: String) -> String { about[name]?.string ?? "" }
        var client = ClientAttributes()
        (client.browserName, client.browserVersion) = (word("browserName"), word("browserVersion"))
        (client.osName, client.osVersion, client.sdkVersion) = (word("osName"), word("osVersion"), word("sdkVersion"))
        var participant = Participant(
            participant, userID: word("userId"), attributes: (try? about.map("attributes")) ?? [:],
            firstJoinTime: WallTime(nanosecondsSince1970: time), ingestProtocol: word("ingestProtocol"),
            ingestConfigurationARN: word("ingestConfigurationArn"), client: client)
        participant.isConnected = record["connected"]?.bool ?? false
        participant.published = record["published"]?.bool ?? false
        participant.recording = record["recording"].flatMap(recording)
        participant.replication = record["replication"].flatMap(replication)
        return participant
    }

    static func encode(_ replication: ParticipantReplication) -> String {
        let object: JSONObject = [
            "part": .string(replication.part.rawValue), "active": .bool(replication.isActive),
            "sourceStageArn": .string(replication.sourceStageARN), "sourceSessionId": .string(replication.sourceSessionID),
        ]
        return JSONValue.object(object).description
    }

    private static func replication(_ fields: JSONValue) -> ParticipantReplication? {
        fields["part"]?.string.flatMap(ParticipantReplication.Part.init(rawValue:)).map {
            ParticipantReplication(
                $0, isActive: fields["active"]?.bool ?? false, sourceStageARN: fields["sourceStageArn"]?.string ?? "",
                sourceSessionID: fields["sourceSessionId"]?.string ?? "")
        }
    }

    static func encode(_ recording: ParticipantRecording) -> String {
        let object: JSONObject = [
            "state": .string(recording.state.rawValue), "bucket": .string(recording.bucketName),
            "prefix": .string(recording.prefix),
        ]
        return JSONValue.object(object).description
    }

    private static func recording(_ fields: JSONValue) -> ParticipantRecording? {
        fields["state"]?.string.flatMap(ParticipantRecording.State.init(rawValue:)).map {
            ParticipantRecording(
                $0, bucketName: fields["bucket"]?.string ?? "", prefix: fields["prefix"]?.string ?? "")
        }
    }

    /// - Parameter isWhole: with the stage, session and participant that a participant's own list need not name.
    static func encode(_ event: ParticipantEvent, isWhole: Bool) -> String {
        var object: JSONObject = [
            "name": .string(event.name.rawValue), "time": .string("\(event.time.nanosecondsSince1970)"),
            "userId": .string(event.userID), "errorCode": .string(event.errorCode),
            "generation": .string("\(event.generation)"),
        ]
        if !event.rule.isEmpty { (object["rule"], object["sentence"]) = (.string(event.rule), .string(event.sentence)) }
        if let recording = event.recording {
            object["recordingBucket"] = .string(recording.bucketName)
            object["recordingPrefix"] = .string(recording.prefix)
            if let duration = recording.duration { object["recordingDuration"] = .integer(Int64(duration)) }
        }
        if !event.remoteParticipantID.isEmpty { object["remoteParticipantId"] = .string(event.remoteParticipantID) }
        if let destination = event.destination {
            object["destinationStageArn"] = .string(destination.stageARN)
            object["destinationSessionId"] = .string(destination.sessionID)
        }
        if event.isReplica { object["replica"] = .bool(true) }
        if isWhole {
            object["stageArn"] = .string(event.stageARN)
            object["sessionId"] = .string(event.sessionID)
            object["participantId"] = .string(event.participantID)
        }
        return JSONValue.object(object).description
    }

    /// Nil for what is no event.
    /// - Parameter participant: whose it is; nil where the text names it.
    static func event(_ text: String, sequence: Int64, of participant: SessionParticipant? = nil) -> ParticipantEvent? {
        guard let fields = try? JSONValue(parsing: text), let name = try? fields.text("name"),
            let name = ParticipantEvent.Name(rawValue: name), let time = (try? fields.text("time")).flatMap({ Int64($0) }),
            time >= 0
        else { return nil }
        func word(_ name: String) -> String { fields[name]?.string ?? "" }
        var event = ParticipantEvent(
            name: name, time: WallTime(nanosecondsSince1970: time),
            of: participant
                ?? SessionParticipant(word("participantId"), ofStage: word("stageArn"), sessionID: word("sessionId")),
            userID: word("userId"), errorCode: word("errorCode"), generation: UInt64(word("generation")) ?? 0)
        (event.rule, event.sentence, event.sequence) = (word("rule"), word("sentence"), sequence)
        if let bucket = fields["recordingBucket"]?.string {
            event.recording = .init(
                bucketName: bucket, prefix: word("recordingPrefix"),
                duration: fields["recordingDuration"]?.integer.map { Int($0) })
        }
        event.remoteParticipantID = word("remoteParticipantId")
        event.isReplica = fields["replica"]?.bool ?? false
        if let stage = fields["destinationStageArn"]?.string {
            event.destination = .init(stageARN: stage, sessionID: word("destinationSessionId"))
        }
        return event
    }
}
