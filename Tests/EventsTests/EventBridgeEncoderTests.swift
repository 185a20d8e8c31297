import JSON
import Store
import Testing
import Wire

@testable import Events

@Suite("Events as EventBridge has them")
struct EventBridgeEncoderTests {
    @Test
    func `the envelope is EventBridge's`() throws {
        var event = ParticipantEvent(
            name: .publishError, time: WallTime(nanosecondsSince1970: 1_723_559_897_089_061_676),
            of: .init("p", ofStage: "arn:aws:ivs:us-west-2:123456789012:stage/s", sessionID: "st-1"), userID: "",
            errorCode: "BITRATE_EXCEEDED")
        event.sequence = 7
        let json = try #require(EventBridgeEncoder.encode(event))
        #expect(json["version"] == "0")
        #expect(json["source"] == "aws.ivs")
        #expect(json["detail-type"] == "IVS Stage Update")
        #expect(json["time"] == "2024-08-13T14:38:17Z")
        #expect(json["resources"] == ["arn:aws:ivs:us-west-2:123456789012:stage/s"])
        #expect(json["region"] == "us-west-2" && json["account"] == "123456789012", "of the stage, whatever the gateway has now")
        #expect(json["id"]?.string?.count == 36)
        #expect(
            json["detail"]
                == [
                    "session_id": "st-1", "event_name": "Participant Publish Error", "event_time": "2024-08-13T14:38:17.089Z",
                    "user_id": "", "participant_id": "p", "error_code": "BITRATE_EXCEEDED",
                ])
        #expect(EventBridgeEncoder.encode(event)?["id"] == json["id"], "a repetition has the same id")
        (event.name, event.errorCode, event.rule, event.sentence) = (.publishWarning, "", "frameRate", "5 frames a second")
        let detail = EventBridgeEncoder.encode(event)?["detail"]
        #expect(detail?["event_name"] == "Participant Publish Warning")
        #expect(detail?["rule"] == "frameRate" && detail?["message"] == "5 frames a second")
        event.name = .joined
        #expect(EventBridgeEncoder.encode(event) == nil)
    }

    /// Of IVS' samples: the members, and that only an end has a duration.
    @Test(
        arguments: [
            (ParticipantEvent.Name.recordingStarted, "Recording Start", nil), (.recordingEnded, "Recording End", 547_327),
            (.recordingStartFailed, "Recording Start Failure", nil), (.recordingEndFailed, "Recording End Failure", 0),
        ] as [(ParticipantEvent.Name, String, Int?)])
    func `a recording's events are of their own type`(_ name: ParticipantEvent.Name, _ words: String, _ duration: Int?) throws {
        var event = ParticipantEvent(
            name: name, time: WallTime(secondsSince1970: 1_723_559_897), of: .init("p", ofStage: "arn:stage", sessionID: "st-1"),
            userID: "u")
        event.recording = .init(bucketName: "recordings", prefix: "s/st-1/p/2024-01-01T12-00-55Z", duration: duration)
        let json = try #require(EventBridgeEncoder.encode(event))
        #expect(json["detail-type"] == "IVS Participant Recording State Change" && json["resources"] == ["arn:stage"])
        var detail: JSONObject = [
            "session_id": "st-1", "event_name": .string(words), "participant_id": "p", "recording_s3_bucket_name": "recordings",
            "recording_s3_key_prefix": "s/st-1/p/2024-01-01T12-00-55Z",
        ]
        if let duration { detail["recording_duration_ms"] = .integer(Int64(duration)) }
        #expect(json["detail"] == .object(detail))
    }
}
