import HTTP
import JSON
import Settings
import Store
import Testing
import Wire

@testable import ControlPlane

@Suite("What an access key may do")
struct AccessPolicyTests {
    private static let mine = "arn:aws:ivs:us-east-1:000000000000:stage/mine"
    private static let other = "arn:aws:ivs:us-east-1:000000000000:stage/other"

    private struct Lists {
        var allow = ["*"]
        var deny: [String] = []
        var resources = ["*"]
        var readOnly = false

        var settings: AccessKeySettings {
            var settings = AccessKeySettings(id: "AKIDEXAMPLE", secret: Secret("secret"))
            settings.allow = allow.compactMap { ActionPattern($0) }
            settings.deny = deny.compactMap { ActionPattern($0) }
            settings.resources = resources.compactMap { StagePattern($0) }
            settings.readOnly = readOnly
            return settings
        }
    }

    private static func action(_ name: String) throws -> AccessAction { try #require(AccessAction.all.first { $0.name == name }) }

    private static let table: [(Lists, String, [String], AccessPolicy.Denial?)] = [
        (Lists(), "ivs:DeleteStage", [mine], nil),
        (Lists(), "stagedoor:StartDrain", [""], nil),
        (Lists(allow: []), "ivs:GetStage", [mine], .notAllowed),
        (Lists(allow: ["ivs:Get*"]), "ivs:GetStage", [mine], nil),
        (Lists(allow: ["ivs:Get*"]), "ivs:ListStages", [""], .notAllowed),
        (Lists(allow: ["ivs:Get*", "ivs:List*"]), "ivs:ListStages", [""], nil),
        (Lists(allow: ["IVS:GETSTAGE"]), "ivs:GetStage", [mine], nil),
        (Lists(allow: ["cloudwatch:*"]), "cloudwatch:ListMetrics", [""], nil),
        (Lists(allow: ["cloudwatch:*"]), "ivs:ListStages", [""], .notAllowed),
        (Lists(deny: ["ivs:Delete*"]), "ivs:DeleteStage", [mine], .denied),
        (Lists(deny: ["ivs:Delete*"]), "ivs:GetStage", [mine], nil),
        (Lists(allow: ["ivs:DeleteStage"], deny: ["*"]), "ivs:DeleteStage", [mine], .denied),
        (Lists(allow: ["ivs:*"], deny: ["ivs:DeleteStage"]), "ivs:DeleteStage", [mine], .denied),
        (Lists(deny: ["ivs:Get*"], resources: [mine]), "ivs:GetStage", [other], .denied),
        (Lists(readOnly: true), "ivs:GetStage", [mine], nil),
        (Lists(readOnly: true), "ivs:ListTagsForResource", [mine], nil),
        (Lists(readOnly: true), "stagedoor:GetOverview", [""], nil),
        (Lists(readOnly: true), "cloudwatch:GetMetricData", [""], nil),
        (Lists(readOnly: true), "stagedoor:ExportEncoderSettings", [mine], .readOnly),
        (Lists(allow: ["ivs:CreateStage"], readOnly: true), "ivs:CreateStage", [""], .readOnly),
        (Lists(allow: ["ivs:CreateStage"], readOnly: true), "ivs:GetStage", [mine], .notAllowed),
        (Lists(resources: [mine]), "ivs:GetStage", [mine], nil),
        (Lists(resources: [mine]), "ivs:GetStage", [other], .otherStage),
        (Lists(resources: [mine]), "ivs:ListStages", [""], .otherStage),
        (Lists(resources: [mine]), "ivs:GetStage", [], .otherStage),
        (Lists(resources: [mine]), "ivs:UpdateIngestConfiguration", [mine, other], .otherStage),
        (Lists(resources: [mine, other]), "ivs:UpdateIngestConfiguration", [mine, other], nil),
        (Lists(resources: ["arn:*:stage/mi*"]), "ivs:GetStage", [mine], nil),
        (Lists(resources: ["arn:*:stage/*"]), "ivs:ListStages", [""], .otherStage),
        (Lists(resources: []), "ivs:GetStage", [mine], .otherStage),
    ]

    @Test(arguments: table.indices)
    func `lists are held against the action and its stages, and who denies wins`(_ row: Int) throws {
        let (lists, name, stages, denial) = Self.table[row]
        let action = try Self.action(name)
        #expect(AccessPolicy(lists.settings).denial(of: action, on: { stages }) == denial, "\(lists) \(name) \(stages)")
    }

    @Test func `every operation of the API is an action, and none is there twice`() {
        #expect(Set(AccessAction.all).count == AccessAction.all.count)
        for operation in Operation.allCases { #expect(AccessAction.all.contains { $0.name == "ivs:\(operation.rawValue)" }) }
    }

    /// What a key for one stage reaches through the resources of both.
    @Test func `a key for one stage reaches what belongs to it, by whatever name, and nothing else`() throws {
        let bench = try APIBench()
        let (mine, other) = (try bench.makeStage(), try bench.makeStage())
        func ingest(_ stage: String) throws -> JSONValue {
            let made = try bench.call("CreateIngestConfiguration", ["ingestProtocol": "RTMPS", "stageArn": .string(stage)])
            return try #require(made.output["ingestConfiguration"]?["arn"])
        }
        let (inside, outside, loose) = (try ingest(mine), try ingest(other), try ingest(""))
        func answer(_ operation: String, _ input: JSONObject) throws -> AccessPolicy.Denial? {
            let target = try #require(HTTPRequestTarget("/\(operation)"))
            let request = HTTPRequest(
                method: .post, target: target, rawTarget: "/\(operation)", headers: [:],
                body: JSONValue.object(input).serialized())
            let call = try OperationCall(request)
            return try AccessPolicy(Lists(resources: [mine]).settings).denial(of: AccessAction(call.operation)) {
                () throws(APIError) in try call.stages(of: request, in: bench.store.state)
            }
        }
        let (own, foreign) = (JSONValue.string(mine), JSONValue.string(other))
        let allowed: [(String, JSONObject)] = [
            ("GetStage", ["arn": own]), ("DeleteStage", ["arn": own]), ("CreateParticipantToken", ["stageArn": own]),
            ("GetParticipant", ["stageArn": own]), ("CreateIngestConfiguration", ["stageArn": own]),
            ("GetIngestConfiguration", ["arn": inside]), ("DeleteIngestConfiguration", ["arn": inside]),
            ("UpdateIngestConfiguration", ["arn": inside, "stageArn": ""]),
            ("ListIngestConfigurations", ["filterByStageArn": own]),
        ]
        for (operation, input) in allowed { #expect(try answer(operation, input) == nil, "\(operation) \(input)") }
        let refused: [(String, JSONObject)] = [
            ("GetStage", ["arn": foreign]), ("GetStage", [:]), ("GetStage", ["arn": .string(mine + "x")]),
            // A member that the operation does not read widens nothing.
            ("ListStages", ["stageArn": own]), ("CreateStage", ["arn": own]), ("ListPublicKeys", ["arn": own]),
            ("CreateParticipantToken", ["stageArn": foreign]), ("CreateIngestConfiguration", ["ingestProtocol": "RTMPS"]),
            ("GetIngestConfiguration", ["arn": outside]), ("GetIngestConfiguration", ["arn": loose]),
            ("UpdateIngestConfiguration", ["arn": inside, "stageArn": foreign]),
            ("UpdateIngestConfiguration", ["arn": outside, "stageArn": own]), ("ListIngestConfigurations", [:]),
            ("StartParticipantReplication", ["sourceStageArn": own, "destinationStageArn": foreign]),
        ]
        for (operation, input) in refused { #expect(try answer(operation, input) == .otherStage, "\(operation) \(input)") }
    }

    @Test func `tags are the stage's whose resource is named`() throws {
        let bench = try APIBench()
        let (mine, other) = (try bench.makeStage(), try bench.makeStage())
        for (arn, denial) in [(mine, nil), (other, AccessPolicy.Denial.otherStage)] {
            let path = "/tags/" + PercentEncoding.encode(arn)
            let target = try #require(HTTPRequestTarget(path))
            let request = HTTPRequest(method: .get, target: target, rawTarget: path, headers: [:], body: [])
            let call = try OperationCall(request)
            let found = try AccessPolicy(Lists(resources: [mine]).settings).denial(of: AccessAction(call.operation)) {
                () throws(APIError) in try call.stages(of: request, in: bench.store.state)
            }
            #expect(found == denial)
        }
    }

    @Test func `the refusal has the action's name`() {
        let error = APIError.denied(AccessAction(.createStage), .notAllowed)
        #expect(error.status == .forbidden && error.type == "AccessDeniedException")
        #expect(error.message.contains("is not authorized to perform: ivs:CreateStage"))
    }
}
