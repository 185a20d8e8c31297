import JSON
import OpenSSL
import Store
import Wire

/// Participant events in the envelope and words of EventBridge, as IVS sends them, and our own Participant Publish Warning.
enum EventBridgeEncoder {
    static func hasForm(_ event: ParticipantEvent) -> Bool { name(event.name) != nil }

    /// - Returns: nil for events that have no form there: joining, failing to, leaving, and all that viewers do.
    static func encode(_ event: ParticipantEvent) -> JSONValue? {
        guard let name = Self.name(event.name) else { return nil }
        // Of the stage, which may have been made when the gateway had others.
        let names = ResourceName(ofARN: event.stageARN)
        return [
            "version": "0", "id": .string(identifier(of: event, account: names.account)),
            "detail-type": .string(detailType(of: event)), "source": "aws.ivs",
            "account": .string(names.account), "time": .string(CivilTime(event.time).rfc3339WholeSeconds),
            "region": .string(names.region), "resources": [.string(event.stageARN)],
            "detail": .object(event.recording.map { detail(event, name, of: $0) } ?? detail(event, name)),
        ]
    }

    static func detailType(of event: ParticipantEvent) -> String {
        event.recording == nil ? "IVS Stage Update" : "IVS Participant Recording State Change"
    }

    private static func detail(_ event: ParticipantEvent, _ name: String) -> JSONObject {
        var detail: JSONObject = [
            "session_id": .string(event.sessionID), "event_name": .string(name),
            "event_time": .string(CivilTime(event.time).rfc3339), "user_id": .string(event.userID),
            "participant_id": .string(event.participantID),
        ]
        if !event.errorCode.isEmpty { detail["error_code"] = .string(event.errorCode) }
        if !event.rule.isEmpty { (detail["rule"], detail["message"]) = (.string(event.rule), .string(event.sentence)) }
        return detail
    }

    private static func detail(
        _ event: ParticipantEvent, _ name: String, of recording: ParticipantEvent.Recording
    ) -> JSONObject {
        var detail: JSONObject = [
            "session_id": .string(event.sessionID), "event_name": .string(name), "participant_id": .string(event.participantID),
            "recording_s3_bucket_name": .string(recording.bucketName), "recording_s3_key_prefix": .string(recording.prefix),
        ]
        if let duration = recording.duration { detail["recording_duration_ms"] = .integer(Int64(duration)) }
        return detail
    }

    private static func name(_ name: ParticipantEvent.Name) -> String? {
        switch name {
        case .publishStarted: "Participant Published"
        case .publishStopped: "Participant Unpublished"
        case .publishError: "Participant Publish Error"
        case .publishWarning: "Participant Publish Warning"
        case .recordingStarted: "Recording Start"
        case .recordingEnded: "Recording End"
        case .recordingStartFailed: "Recording Start Failure"
        case .recordingEndFailed: "Recording End Failure"
        case .joined, .left, .joinError, .subscribeStarted, .subscribeStopped, .subscribeError, .replicationStarted,
            .replicationStopped:
            nil
        }
    }

    /// The same for every delivery of an event, so that a receiver recognises a repetition: a UUID of version 8 (RFC 9562 §5.8).
    private static func identifier(of event: ParticipantEvent, account: String) -> String {
        let seed = "\(account) \(event.stageARN) \(event.sequence) \(event.time.nanosecondsSince1970)"
        return String(uuid: Digest.sha256(Array(seed.utf8)).prefix(16), version: 8)
    }
}
