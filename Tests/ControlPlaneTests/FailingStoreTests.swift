import HTTP
import JSON
import Store
import Testing
import Wire

@testable import ControlPlane

@Suite("What the API answers when its store fails")
struct FailingStoreTests {
    /// SDKs try again after the one and the other: by the type, and after any 503.
    @Test(arguments: [
        (StoreError.away, "ServiceUnavailableException", 503), (.closed, "InternalServerException", 500),
        (.overloaded, "InternalServerException", 500), (.failed(reason: "disk full"), "InternalServerException", 500),
    ])
    func `faults of ours are told apart from a cluster that is away, and say nothing of us`(
        _ fault: StoreError, _ type: String, _ status: Int
    ) {
        let error = APIError(fault)
        #expect(error.type == type && error.status.code == status)
        #expect(!error.message.contains("disk"))
    }

    @Test func `an operation's own refusal stays what it is`() { #expect(APIError(APIError.noStage) == .noStage) }

    /// A write, a read of the history, and a write to an address of its own.
    @Test func `whoever needs the store is answered InternalServerException, and memory goes on answering`() throws {
        let bench = try APIBench()
        let arn = try bench.makeStage()
        bench.store.close()
        let tags = try bench.send(.post, "/tags/" + PercentEncoding.encode(arn), body: Array(#"{"tags":{"a":"1"}}"#.utf8))
        let answers = [
            try bench.send(.post, "/CreateStage"), tags,
            try bench.send(.post, "/ListStageSessions", body: JSONValue.object(["stageArn": .string(arn)]).serialized()),
        ]
        for answer in answers {
            #expect(answer.status.code == 500 && answer.headers["x-amzn-ErrorType"] == "InternalServerException")
            #expect(
                try JSONValue(parsing: answer.body) == [
                    "exceptionMessage": "The gateway failed: try again.", "message": "The gateway failed: try again.",
                ])
        }
        #expect(try bench.call("GetStage", ["arn": .string(arn)]).status == .ok)
        #expect(try bench.call("ListStages").output["stages"]?.array?.count == 1)
    }
}
