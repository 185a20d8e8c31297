import JSON
import Testing

@testable import ControlPlane

@Suite("Members that are not as the API's model has them")
struct InputTests {
    /// Clients check lengths and types before they send; patterns and enumerations they leave to the service.
    static let refusals: [(String, JSONObject, String)] = [
        ("CreateStage", ["name": "My Stage"], "name must be at most 128 of the characters a-z, A-Z, 0-9, - and _."),
        ("CreateStage", ["tags": ["k": 1]], "Each value of tags must be text of at most 256 characters."),
        ("CreateStage", ["tags": ["": "v"]], "Each name of tags must be text of 1 to 128 characters."),
        // Swift takes them for one key, of which the second value would stay.
        (
            "CreateStage", ["tags": ["\u{E9}": "1", "e\u{301}": "2"]],
            "tags has two names that are one to Unicode, composed in different ways."
        ),
        ("CreateStage", ["participantTokenConfigurations": [[]]], "Each of participantTokenConfigurations must be an object."),
        (
            "CreateStage", ["participantTokenConfigurations": [["capabilities": []]]],
            "capabilities must not be empty: leave it out for both."
        ),
        ("GetStage", ["arn": "zMBRchR1ikVf"], "arn must be an ARN of the form arn:aws:ivs:REGION:ACCOUNT:stage/ID."),
        ("ListStages", ["maxResults": 101], "maxResults must be a whole number from 1 to 100."),
        ("ListStages", ["nextToken": "00"], "nextToken must be what this list answered as nextToken."),
        ("CreateIngestConfiguration", ["ingestProtocol": "WHIP"], "ingestProtocol must be one of RTMP, RTMPS."),
        (
            "CreateIngestConfiguration", ["ingestProtocol": "RTMPS", "userId": "a\u{0}b"],
            "userId must be text of at most 128 characters without U+0000."
        ),
        (
            "CreateIngestConfiguration", ["ingestProtocol": "RTMPS", "stageArn": "stage"],
            "stageArn must be empty or an ARN of the form arn:aws:ivs:REGION:ACCOUNT:stage/ID."
        ),
        (
            "CreateIngestConfiguration",
            ["ingestProtocol": "RTMPS", "stageArn": "arn:aws:ivs:us-east-1:000000000000:stage/nowhere"],
            "stageArn names no stage."
        ),
        (
            "CreateIngestConfiguration", ["ingestProtocol": "RTMPS", "insecureIngest": "yes"],
            "insecureIngest must be true or false."
        ),
        // As the sample in IVS' guide spells it.
        (
            "GetParticipant",
            [
                "stageArn": "arn:aws:ivs:us-east-1:000000000000:stage/s", "sessionId": "st-aaaaaaaaaaaaa", "participantID": "p",
            ], "participantId is required."
        ),
    ]

    @Test(arguments: refusals)
    func `are refused with what they must be`(_ operation: String, _ input: JSONObject, _ message: String) throws {
        let answer = try APIBench().call(operation, input)
        #expect(answer.type == "ValidationException")
        #expect(answer.output["message"]?.string == message)
    }

    @Test func `of a token too, with each of a list`() throws {
        let bench = try APIBench()
        let stage = JSONValue.string(try bench.makeStage())
        let answer = try bench.call("CreateParticipantToken", ["stageArn": stage, "capabilities": ["WATCH"]])
        #expect(answer.output["message"] == "Each of capabilities must be one of PUBLISH, SUBSCRIBE.")
        let none = try bench.call("CreateParticipantToken", ["stageArn": stage, "capabilities": []])
        #expect(none.type == "ValidationException")
        #expect(none.output["message"] == "capabilities must not be empty: leave it out for both.")
    }
}
