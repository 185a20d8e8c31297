import Admission
public import JSON
import Monitoring
import WebRTCTransport
import Wire

extension SessionStory {
    /// The story as `GET /v1/sessions/{id}` tells it.
    public var json: JSONValue {
        var object = JSONObject()
        object["steps"] = .array(
            entries.map { entry in
                var step = JSONObject()
                step["step"] = .string(entry.step.rawValue)
                step["time"] = .string(CivilTime(entry.time).rfc3339)
                step["milliseconds"] = .integer(entry.sincePost.milliseconds)
                step["peer"] = entry.peer.map { .string($0.description) }
                return .object(step)
            })
        if rejectedChecks > 0 { object["rejectedChecks"] = .integer(Int64(rejectedChecks)) }
        object["verdict"] = verdict.map { .string($0) }
        return .object(object)
    }
}

extension WHIPPlane {
    /// A live or lately finished session as `GET /v1/sessions/{id}` tells it; nil when there is none.
    public func sessionJSON(id: String) -> JSONValue? {
        let live = directory.entry(id: id)
        guard let entry = live ?? directory.finishedEntry(id: id) else { return nil }
        var object = JSONObject()
        object["sessionId"] = .string(entry.id)
        object["protocol"] = .string("WHIP")
        object["participantId"] = .string(entry.grant.participantID)
        object["stageArn"] = .string(entry.grant.stageARN)
        object["state"] = .string(live == nil ? "ended" : entry.current == .pending ? "pending" : "live")
        object["source"] = .string(entry.source.description)
        object["userAgent"] = .string(entry.userAgent)
        var story = entry.story.json.object
        story?["warnings"] = board?.session(id: id)?.warningsJSON ?? []
        object["story"] = story.map { .object($0) }
        object["media"] = entry.figures?.json
        return .object(object)
    }
}
