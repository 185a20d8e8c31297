import HTTP
import JSON
import Settings
import Store
import Testing
import Wire

@testable import ControlPlane

/// A key that an application has to mint tokens for one stage, before everything that there is: what is added later is among it.
@Suite("A key for one action on one stage")
struct OneActionKeyTests {
    /// Signed in at the console, so that requests need no signature each.
    private final class Application {
        let bench: APIBench
        let mine: String
        let other: String
        private let headers: HTTPHeaders

        init() throws {
            let bench = try ConsoleSessionsTests.bench()
            let (cookie, token) = try ConsoleSessionsTests.signIn(bench)
            let headers: HTTPHeaders = ["Host": "127.0.0.1:8088", "Cookie": cookie, "X-Stagedoor-CSRF": token]
            let stages = try (0..<2).map { _ in
                let made = try JSONValue(parsing: bench.send(.post, "/CreateStage", headers: headers).body)
                return try #require(made["stage"]?["arn"]?.string)
            }
            (self.bench, self.headers, mine, other) = (bench, headers, stages[0], stages[1])
            var settings = ControlPlaneSettings(
                names: .init(), endpoints: .init(events: "", whip: "", rtmp: "", rtmps: ""),
                accessKeys: [.init(id: "AKIDEXAMPLE", secret: Secret("secret"))])
            settings.accessKeys[0].allow = [ActionPattern("ivs:CreateParticipantToken")].compactMap { $0 }
            settings.accessKeys[0].resources = [StagePattern(stages[0])].compactMap { $0 }
            bench.plane.apply(settings)
        }

        /// An operation, about that stage by whatever member it names one.
        func ask(_ operation: Operation, about stage: String) throws -> HTTPResponse {
            let arn = JSONValue.string(stage)
            let input: JSONObject = ["arn": arn, "stageArn": arn, "sourceStageArn": arn, "destinationStageArn": arn]
            return try bench.send(
                .post, "/\(operation.rawValue)", body: JSONValue.object(input).serialized(), headers: headers)
        }

        func tags(_ method: HTTPMethod) throws -> HTTPResponse {
            try bench.send(method, "/tags/" + PercentEncoding.encode(mine), headers: headers)
        }

        func request(_ target: String) throws -> HTTPRequest {
            HTTPRequest(
                method: .post, target: try #require(HTTPRequestTarget(target)), rawTarget: target, headers: headers, body: [])
        }
    }

    private static func isDenied(_ answer: HTTPResponse, _ action: String) throws -> Bool {
        let message = try JSONValue(parsing: answer.body)["exceptionMessage"]?.string ?? ""
        return answer.status == .forbidden && answer.headers["x-amzn-ErrorType"] == "AccessDeniedException"
            && message.contains("is not authorized to perform: \(action),")
    }

    @Test func `mints for that stage and for no other`() throws {
        let application = try Application()
        #expect(try application.ask(.createParticipantToken, about: application.mine).status == .ok)
        let foreign = try application.ask(.createParticipantToken, about: application.other)
        #expect(try Self.isDenied(foreign, "ivs:CreateParticipantToken"))
    }

    @Test func `is refused every other operation of the API, by its name`() throws {
        let application = try Application()
        for operation in Operation.allCases where operation != .createParticipantToken && !operation.isOnTags {
            let answer = try application.ask(operation, about: application.mine)
            #expect(try Self.isDenied(answer, "ivs:\(operation.rawValue)"), "\(operation)")
        }
        let onTags: [(HTTPMethod, Operation)] = [
            (.get, .listTagsForResource), (.post, .tagResource), (.delete, .untagResource),
        ]
        for (method, operation) in onTags {
            #expect(try Self.isDenied(application.tags(method), "ivs:\(operation.rawValue)"), "\(operation)")
        }
    }

    /// The stage is its own, where an address is about one.
    @Test func `is refused everything under /v1/, by its name`() throws {
        let application = try Application()
        let actions = AccessAction.all.filter { $0.name.hasPrefix("stagedoor:") }
        #expect(!actions.isEmpty)
        for action in actions {
            let request = try application.request("/v1/x")
            let refusal = try #require(application.bench.plane.refusal(of: request, for: action, on: { application.mine }))
            #expect(try Self.isDenied(refusal, action.name), "\(action.name)")
        }
    }

    @Test func `is refused CloudWatch's operations, by their names`() throws {
        let application = try Application()
        let actions = AccessAction.all.filter { $0.name.hasPrefix("cloudwatch:") }
        #expect(!actions.isEmpty)
        for action in actions {
            let request = try application.request("/")
            let refusal = application.bench.plane.metricsRefusal(of: request, for: action, on: [application.mine])
            #expect(refusal?.status == 403 && refusal?.type == "AccessDeniedException", "\(action.name)")
            #expect(refusal?.message.contains("is not authorized to perform: \(action.name),") == true)
        }
    }
}
