import HTTP
import Testing

@testable import ControlPlane

@Suite("Which operation a request means")
struct OperationTests {
    /// Its clients read the type and the sentence; what other addresses of the listener answer says neither to them.
    @Test(arguments: Operation.allCases.map(\.rawValue) + ["NewerOperation"])
    func `an operation is the API's, also one that only newer models have`(_ operation: String) throws {
        #expect(ControlPlane.serves("/" + operation))
        let answer = try APIBench().call(operation)
        let isUnknown = Operation(rawValue: operation)?.isOnTags ?? true
        #expect((answer.type == "UnknownOperationException") == isUnknown)
        #expect((answer.status == .notFound) == isUnknown)
    }

    @Test(arguments: ["", "/", "/livez", "/v1/Overview", "/CreateStage/", "/Create.php", "//CreateStage", "CreateStage"])
    func `other paths are none of the API's`(_ path: String) { #expect(!ControlPlane.serves(path)) }
}
