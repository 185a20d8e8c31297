import Admission
public import JSON
import MediaContract
import Settings
import StageHub
import Wire

extension SessionRecord {
    /// The session as `GET /v1/sessions/{id}` and the console show it.
    public func json(_ sample: SessionSample? = nil) -> JSONObject {
        let ending = ending
        var object: JSONObject = [
            "sessionId": .string(id), "protocol": .string(ingestProtocol.rawValue),
            "participantId": .string(grant.participantID), "userId": .string(grant.userID),
            "stageArn": .string(grant.stageARN), "stageSessionId": .string(lease.stageSessionID),
            "state": .string(ending == nil ? "live" : "ended"), "source": .string(origin.source.description),
            "userAgent": .string(origin.userAgent), "began": .string(CivilTime(began).rfc3339),
            "totals": SessionTotals(counters).json, "layers": layersJSON(sample),
            "story": .object(storyJSON),
        ]
        if let ending {
            object["ended"] = .string(CivilTime(ending.time).rfc3339)
            object["reason"] = .string(ending.reason)
            object["verdict"] = .string(ending.verdict)
        }
        if let replica = grant.replica { object["replicaOf"] = .string(replica.sourceStageARN) }
        if let encoder = encoder.json { object["encoder"] = encoder }
        if let sample { object["now"] = sample.json }
        return object
    }

    private var storyJSON: JSONObject {
        var story: JSONObject = ["steps": stepsJSON, "warnings": warningsJSON]
        if grant.redundancy == .joined { story["switches"] = .array(switches.map(\.json)) }
        return story
    }

    /// By its name, best first; one that is paused, and every one of a publish that has ended, is not active.
    private func layersJSON(_ sample: SessionSample?) -> JSONValue {
        let isLive = ending == nil
        return .array(
            layers.map { layer in
                let rates = sample?[layer] ?? SessionSample.Track()
                return [
                    "name": .string(layer.name.rawValue), "rid": .string(layer.rid), "width": .integer(Int64(layer.width)),
                    "height": .integer(Int64(layer.height)),
                    "framesPerSecond": .number(rates.framesPerSecond.rounded(toPlaces: 1)),
                    "bitsPerSecond": .integer(Int64(rates.bitsPerSecond)), "active": .bool(isLive && layer.isActive),
                ]
            })
    }

    /// How it stands with each rule of the media contract.
    public var rulesJSON: JSONValue { .array(contract?.rules.map(\.json) ?? []) }

    /// What it was warned of, oldest first.
    public var warningsJSON: JSONValue {
        .array(
            warnings.map { warning in
                [
                    "rule": .string(warning.rule), "sentence": .string(warning.sentence),
                    "time": .string(CivilTime(warning.time).rfc3339), "count": .integer(Int64(warning.count)),
                ]
            })
    }

    private var stepsJSON: JSONValue {
        let steps = steps
        let first = steps.first?.time ?? began
        return .array(
            steps.map { step in
                [
                    "step": .string(step.name), "time": .string(CivilTime(step.time).rfc3339),
                    "milliseconds": .integer((step.time - first).milliseconds),
                ]
            })
    }
}

extension RuleStanding {
    fileprivate var json: JSONValue {
        var object: JSONObject = [
            "rule": .string(rule.rawValue), "action": .string(action.rawValue), "limit": .string(limit),
            "setting": .string(setting),
        ]
        if let seen { object["seen"] = .string(seen) }
        if let isKept { object["ok"] = .bool(isKept) }
        return .object(object)
    }
}
