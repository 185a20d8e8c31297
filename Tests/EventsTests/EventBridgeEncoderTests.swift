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
            stageARN: "arn:aws:ivs:x:1:stage/s",
            sessionID: "st-1", participantID: "p", userID: "", errorCode: "BITRATE_EXCEEDED")
        event.sequence = 7
        let encoder = EventBridgeEncoder(names: ResourceName(region: "us-west-2", account: "123456789012"))
        let json = try #require(encoder.encode(event))
        #expect(json["version"] == "0")
        #expect(json["source"] == "aws.ivs")
        #expect(json["detail-type"] == "IVS Stage Update")
        #expect(json["time"] == "2024-08-13T14:38:17Z")
        #expect(json["resources"] == ["arn:aws:ivs:x:1:stage/s"])
        #expect(json["id"]?.string?.count == 36)
        #expect(
            json["detail"]
                == [
                    "session_id": "st-1", "event_name": "Participant Publish Error", "event_time": "2024-08-13T14:38:17.089Z",
                    "user_id": "", "participant_id": "p", "error_code": "BITRATE_EXCEEDED",
                ])
        #expect(encoder.encode(event)?["id"] == json["id"], "a repetition has the same id")
        (event.name, event.errorCode, event.rule, event.sentence) = (.publishWarning, "", "frameRate", "5 frames a second")
        let detail = encoder.encode(event)?["detail"]
        #expect(detail?["event_name"] == "Participant Publish Warning")
        #expect(detail?["rule"] == "frameRate" && detail?["message"] == "5 frames a second")
        event.name = .joined
        #expect(encoder.encode(event) == nil)
    }
}
