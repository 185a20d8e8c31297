import EventLoop
import JSON
import Refusals
import Store
import Testing
import Wire

@testable import ControlPlane

@Suite("Sessions, participants and events, as the API tells them")
struct SessionHistoryTests {
    private let bench: APIBench
    private let stage: String

    init() throws {
        let bench = try APIBench()
        (self.bench, stage) = (bench, try bench.makeStage())
    }

    private func ask(_ operation: String, _ more: JSONObject = [:]) throws -> (type: String?, output: JSONValue) {
        var input = more
        if input["stageArn"] == nil { input["stageArn"] = .string(stage) }
        let answer = try bench.call(operation, input)
        return (answer.type, answer.output)
    }

    /// The id of the stage's newest session.
    private func session() throws -> JSONValue {
        try #require(ask("ListStageSessions").output["stageSessions"]?[0]?["sessionId"])
    }

    @Test func `a stage tells its running session, which nobody has begun before a publish has started`() throws {
        func told() throws -> [JSONValue] {
            let shown = try bench.call("GetStage", ["arn": .string(stage)]).output["stage"]?["activeSessionId"]
            let listed = try bench.call("ListStages").output["stages"]?[0]?["activeSessionId"]
            let newest = try ask("ListStageSessions").output["stageSessions"]?[0]?["sessionId"]
            return [shown, listed, newest].compactMap { $0 }
        }
        _ = try bench.publish("early", on: stage)
        #expect(try told() == [])
        try bench.start("p", on: stage)
        let id = try session()
        #expect(try told() == [id, id, id])
        let shown = try ask("GetStageSession", ["sessionId": id]).output["stageSession"]
        #expect(shown?["sessionId"] == id && shown?["endTime"] == nil)
    }

    @Test func `sessions come newest first, over pages, and only what is over has an end`() throws {
        let ids = ["st-aaaaaaaaaaaaa", "st-bbbbbbbbbbbbb", "st-ccccccccccccc"]
        let start = EventLoop.wallNow() + .seconds(-300)
        for (number, id) in ids.enumerated() {
            let session = StageSession(stageARN: stage, sessionID: id, startTime: start + .seconds(number))
            bench.store.record([.sessionBegan(session)])
        }
        let end = start + .seconds(60)
        bench.store.record([.sessionEnded(stageARN: stage, sessionID: ids[0], at: end)])
        let first = try ask("ListStageSessions", ["maxResults": 2]).output
        let rest = try ask("ListStageSessions", ["maxResults": 2, "nextToken": first["nextToken"] ?? nil]).output
        let listed = [first, rest].flatMap { $0["stageSessions"]?.array ?? [] }
        #expect(listed.compactMap { $0["sessionId"]?.string } == [ids[2], ids[1], ids[0]])
        #expect(listed.compactMap { $0["endTime"]?.string } == [CivilTime(end).rfc3339])
        #expect(rest["nextToken"] == nil)
    }

    /// The model has no ResourceNotFoundException for lists.
    @Test func `lists of what is not there are empty, and one thing that is not there is not found`() throws {
        try bench.start("p", on: stage)
        let (id, other) = (try session(), try bench.makeStage())
        let nowhere = JSONValue.string(ResourceName().arn(.stage, "nowhere"))
        let inputs: [JSONObject] = [
            ["sessionId": "st-aaaaaaaaaaaaa", "participantId": "p"],
            ["sessionId": id, "participantId": "p", "stageArn": .string(other)],
            ["sessionId": id, "participantId": "p", "stageArn": nowhere],
        ]
        for input in inputs {
            #expect(try ask("GetStageSession", input).type == "ResourceNotFoundException")
            #expect(try ask("GetParticipant", input).type == "ResourceNotFoundException")
            #expect(try ask("ListParticipants", input).output["participants"] == [])
            #expect(try ask("ListParticipantEvents", input).output["events"] == [])
        }
        let nobody: JSONObject = ["sessionId": id, "participantId": "nobody"]
        #expect(try ask("GetParticipant", nobody).type == "ResourceNotFoundException")
        #expect(try ask("ListParticipantEvents", nobody).output["events"] == [])
        #expect(try ask("ListStageSessions", ["stageArn": nowhere]).output["stageSessions"] == [])
    }

    /// Whom each finds; nil where it is refused.
    static let filters: [(JSONObject, [String]?)] = [
        ([:], ["gone", "here", "refused"]), (["filterByUserId": "ü"], ["gone"]), (["filterByUserId": "u"], []),
        (["filterByUserId": ""], ["here", "refused"]), (["filterByState": "CONNECTED"], ["here"]),
        (["filterByState": "DISCONNECTED"], ["gone", "refused"]), (["filterByPublished": true], ["gone", "here"]),
        (["filterByPublished": false], ["refused"]), (["filterByRecordingState": "STOPPED"], []),
        (["filterByRecordingState": "DISABLED"], nil), (["filterByState": "CONNECTED", "filterByPublished": true], nil),
        (["filterByUserId": "ü", "filterByRecordingState": "ACTIVE"], nil),
    ]

    @Test(arguments: filters)
    func `participants are found by one filter, and two are refused`(_ filter: JSONObject, _ expected: [String]?) throws {
        bench.leases.release(try bench.start("gone", on: stage, userID: "ü"))
        try bench.start("here", on: stage)
        bench.refuse("refused", on: stage, Refusal(.tokenCannotPublish))
        var input = filter
        input["sessionId"] = try session()
        let answer = try ask("ListParticipants", input)
        #expect(answer.output["participants"]?.array?.compactMap { $0["participantId"]?.string } == expected)
        #expect(answer.type == (expected == nil ? "ValidationException" : nil))
    }

    /// Its id has a character that the model forgets.
    @Test func `a participant is shown with what IVS shows of one that nothing is recorded of`() throws {
        try bench.start("p_1", on: stage, userID: "u")
        let id = try session()
        let shown = try #require(ask("GetParticipant", ["sessionId": id, "participantId": "p_1"]).output["participant"])
        let expected: JSONObject = [
            "participantId": "p_1", "userId": "u", "state": "CONNECTED", "published": true, "protocol": "RTMPS",
            "recordingState": "DISABLED", "recordingS3BucketName": "", "recordingS3Prefix": "", "replicationType": "NONE",
            "redundantIngest": false,
        ]
        for (name, value) in expected.members { #expect(shown[name] == value, "\(name)") }
        #expect(shown["ingestConfigurationArn"] == nil && shown["sourceStageArn"] == nil && shown["attributes"] == nil)
        let listed = try ask("ListParticipants", ["sessionId": id]).output["participants"]?[0]?.object?.members ?? []
        #expect(listed.count == 8)
        for (name, value) in listed { #expect(shown[name] == value, "\(name)") }
    }

    @Test func `events come oldest first, over pages, each with what it is about and nothing else`() throws {
        let lease = try bench.start("p", on: stage)
        bench.leases.publishFailed(lease, Refusal(.bFrames))
        bench.leases.release(lease)
        var input: JSONObject = ["sessionId": try session(), "participantId": "p", "maxResults": 2]
        var events: [JSONValue] = []
        repeat {
            let page = try ask("ListParticipantEvents", input).output
            events += page["events"]?.array ?? []
            input["nextToken"] = page["nextToken"]
        } while input["nextToken"] != nil
        #expect(
            events.compactMap { $0["name"]?.string } == ["JOINED", "PUBLISH_STARTED", "PUBLISH_ERROR", "PUBLISH_STOPPED", "LEFT"])
        let members = events.map { Set($0.object?.names ?? []) }
        let plain: Set = ["name", "participantId", "eventTime"]
        #expect(members == [plain, plain, plain.union(["errorCode"]), plain, plain])
        #expect(events[2]["errorCode"] == "B_FRAME_PRESENT")
    }
}
