import Admission
public import JSON
import Refusals
import StageHub
import Wire

extension SessionRecord {
    /// The session as `GET /v1/sessions/{id}` and the console tell it.
    public func json(_ sample: SessionSample? = nil) -> JSONObject {
        let ending = ending
        var object: JSONObject = [
            "sessionId": .string(id), "protocol": .string(ingestProtocol.rawValue),
            "participantId": .string(grant.participantID), "userId": .string(grant.userID),
            "stageArn": .string(grant.stageARN), "stageSessionId": .string(lease.stageSessionID),
            "state": .string(ending == nil ? "live" : "ended"), "source": .string(origin.source.description),
            "userAgent": .string(origin.userAgent), "began": .string(CivilTime(began).rfc3339),
            "totals": SessionTotals(counters).json, "story": ["steps": stepsJSON, "warnings": warningsJSON],
        ]
        if let ending {
            object["ended"] = .string(CivilTime(ending.time).rfc3339)
            object["reason"] = .string(ending.reason)
            object["verdict"] = .string(ending.verdict)
        }
        if let sample { object["now"] = sample.json }
        return object
    }

    /// What the contract warned of, oldest first.
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

extension SessionTotals {
    var json: JSONValue {
        var object: JSONObject = [
            "bytes": .integer(Int64(bytes)), "packets": .integer(Int64(packets)), "videoFrames": .integer(Int64(videoFrames)),
            "lostPackets": .integer(Int64(lost)), "recoveredPackets": .integer(Int64(recovered)),
        ]
        if let largestPicture { object["picture"] = .string("\(largestPicture.width)x\(largestPicture.height)") }
        return .object(object)
    }
}

extension SessionSample {
    /// Bits and frames a second, loss as a ratio, round trip in milliseconds where it is known.
    var json: JSONValue {
        var object: JSONObject = [
            "videoBitsPerSecond": .integer(Int64(videoBitsPerSecond)),
            "audioBitsPerSecond": .integer(Int64(audio.bitsPerSecond)),
            "framesPerSecond": .number(framesPerSecond.rounded(toPlaces: 1)),
            "lossRatio": .number(lossRatio.rounded(toPlaces: 4)),
        ]
        if let picture { object["picture"] = .string("\(picture.width)x\(picture.height)") }
        if let roundTrip { object["roundTripMilliseconds"] = .number((roundTrip.inSeconds * 1_000).rounded(toPlaces: 1)) }
        return .object(object)
    }
}

extension RefusedAttempt {
    /// As the console tells it: never the credential, only what was found of it.
    public var json: JSONValue {
        var object: JSONObject = [
            "time": .string(CivilTime(time).rfc3339), "protocol": .string(ingestProtocol.rawValue),
            "source": .string(source.description), "userAgent": .string(userAgent),
            "code": .string(refusal.code.identifier), "name": .string(refusal.code.name), "sentence": .string(refusal.sentence),
            "wasLive": .bool(wasLive),
        ]
        if let grant {
            object["participantId"] = .string(grant.participantID)
            object["stageArn"] = .string(grant.stageARN)
        }
        return .object(object)
    }
}
