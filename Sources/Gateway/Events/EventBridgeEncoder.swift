import JSON
import OpenSSL
import Store
import Wire

/// Participant events in the envelope and words of EventBridge, as IVS sends them, and our own Participant Publish Warning.
struct EventBridgeEncoder: Sendable {
    static let detailType = "IVS Stage Update"

    private let names: ResourceName

    init(names: ResourceName) { self.names = names }

    /// - Returns: nil for events that have no form there: joining, failing to, and leaving.
    func encode(_ event: ParticipantEvent) -> JSONValue? {
        guard let name = Self.name(event.name) else { return nil }
        let time = CivilTime(event.time)
        var detail: JSONObject = [
            "session_id": .string(event.sessionID), "event_name": .string(name), "event_time": .string(time.rfc3339),
            "user_id": .string(event.userID), "participant_id": .string(event.participantID),
        ]
        if !event.errorCode.isEmpty { detail["error_code"] = .string(event.errorCode) }
        if !event.rule.isEmpty { (detail["rule"], detail["message"]) = (.string(event.rule), .string(event.sentence)) }
        return [
            "version": "0", "id": .string(identifier(of: event)), "detail-type": .string(Self.detailType),
            "source": "aws.ivs", "account": .string(names.account), "time": .string(time.rfc3339WholeSeconds),
            "region": .string(names.region), "resources": [.string(event.stageARN)], "detail": .object(detail),
        ]
    }

    private static func name(_ name: ParticipantEvent.Name) -> String? {
        switch name {
        case .publishStarted: "Participant Published"
        case .publishStopped: "Participant Unpublished"
        case .publishError: "Participant Publish Error"
        case .publishWarning: "Participant Publish Warning"
        case .joined, .left, .joinError: nil
        }
    }

    /// The same for every delivery of an event, so that a receiver recognises a repetition: a UUID of version 8 (RFC 9562 §5.8).
    private func identifier(of event: ParticipantEvent) -> String {
        let seed = "\(names.account) \(event.stageARN) \(event.sequence) \(event.time.nanosecondsSince1970)"
        return String(uuid: Digest.sha256(Array(seed.utf8)).prefix(16), version: 8)
    }
}

extension CivilTime {
    /// `2026-11-21T02:14:36Z`
    fileprivate var rfc3339WholeSeconds: String { rfc3339.prefix { $0 != "." } + "Z" }
}
