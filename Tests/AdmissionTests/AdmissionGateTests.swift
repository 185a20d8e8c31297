import Admission
import Refusals
import Testing
import Wire

@Suite("Admission gate")
struct AdmissionGateTests {
    struct Everybody: Authorizer {
        func authorize(_ request: PublishRequest, reply: @escaping @Sendable (Result<PublishGrant, Refusal>) -> Void) {
            reply(.success(PublishGrant(participantID: "p", stageARN: "a", stageID: "s", credentialHash: "h")))
        }
    }

    let gate = AdmissionGate(before: Everybody())
    /// Another one each time.
    var request: PublishRequest {
        PublishRequest(
            credential: .token(Secret("t")), ingestProtocol: .whip, source: SocketAddress(.loopback, port: 1), userAgent: "")
    }

    func answer() -> RefusalCode? { answer(request) }

    func answer(_ request: PublishRequest) -> RefusalCode? {
        nonisolated(unsafe) var code: RefusalCode?
        gate.authorize(request) { if case .failure(let refusal) = $0 { code = refusal.code } }
        return code
    }

    @Test func `lets everybody in by default`() { #expect(answer() == nil) }

    @Test(arguments: [(AdmissionGate.Closure.draining, RefusalCode.draining), (.overloaded, .overloaded), (.noRouter, .noRouter)])
    func `refuses while closed`(_ closure: AdmissionGate.Closure, _ code: RefusalCode) {
        gate.setClosed(true, because: closure)
        #expect(answer() == code)
        gate.setClosed(false, because: closure)
        #expect(answer() == nil)
    }

    @Test func `a drain weighs more than overload and outlives it`() {
        gate.setClosed(true, because: .overloaded)
        gate.setClosed(true, because: .draining)
        #expect(answer() == .draining)
        gate.setClosed(false, because: .overloaded)
        #expect(answer() == .draining)
        gate.setClosed(false, because: .draining)
        #expect(answer() == nil)
    }

    @Test func `refuses beyond the limit until a publish ends`() {
        gate.maximumPublishes = 1
        #expect(answer() == nil)
        gate.publishBegan()
        #expect(answer() == .overloaded)
        gate.publishEnded()
        #expect(answer() == nil)
    }

    @Test func `those that are set up count from their grants on, until they are live or over`() {
        gate.maximumPublishes = 2
        let (first, second) = (request, request)
        #expect(answer(first) == nil && answer(second) == nil)
        #expect(answer() == .overloaded && !gate.takesPublishes && gate.startingPublishes == 2)
        gate.publishBegan()
        for _ in 0..<2 { first.place.giveBack() }
        #expect(answer() == .overloaded && gate.startingPublishes == 1)
        second.place.giveBack()
        #expect(answer() == nil && gate.startingPublishes == 0, "who forgets its request gives the place back with it")
        #expect(answer() == nil)
    }

    /// Answers when it is told to.
    final class Slow: Authorizer, @unchecked Sendable {
        var replies: [@Sendable (Result<PublishGrant, Refusal>) -> Void] = []

        func authorize(_ request: PublishRequest, reply: @escaping @Sendable (Result<PublishGrant, Refusal>) -> Void) {
            replies.append(reply)
        }
    }

    @Test func `a rush that asks before anybody is answered does not exceed the limit`() {
        let slow = Slow()
        let gate = AdmissionGate(before: slow)
        gate.maximumPublishes = 3
        let requests = (0..<10).map { _ in request }
        nonisolated(unsafe) var codes: [RefusalCode?] = []
        for request in requests {
            gate.authorize(request) { result in
                if case .failure(let refusal) = result { codes.append(refusal.code) } else { codes.append(nil) }
            }
        }
        slow.replies[0](.failure(Refusal(.tokenRejected)))
        for reply in slow.replies.dropFirst() {
            reply(.success(PublishGrant(participantID: "p", stageARN: "a", stageID: "s", credentialHash: "h")))
        }
        #expect(codes == [.tokenRejected, nil, nil, nil] + Array(repeating: RefusalCode?.some(.overloaded), count: 6))
        for request in requests { request.place.giveBack() }
        #expect(gate.startingPublishes == 0 && gate.takesPublishes)
    }

    @Test func `a node that began to drain while somebody was asked takes nobody`() {
        let slow = Slow()
        let gate = AdmissionGate(before: slow)
        nonisolated(unsafe) var code: RefusalCode?
        gate.authorize(request) { if case .failure(let refusal) = $0 { code = refusal.code } }
        gate.setClosed(true, because: .draining)
        slow.replies[0](.success(PublishGrant(participantID: "p", stageARN: "a", stageID: "s", credentialHash: "h")))
        #expect(code == .draining && gate.startingPublishes == 0)
    }

    @Test(arguments: ["s", "another"])
    func `refuses a stage whose router is out of reach, in words`(_ stageID: String) throws {
        let gate = AdmissionGate(before: Everybody()) { $0 == stageID }
        nonisolated(unsafe) var refusal: Refusal?
        gate.authorize(request) { if case .failure(let failure) = $0 { refusal = failure } }
        #expect(refusal?.code == (stageID == "s" ? .noRouter : nil))
        #expect(refusal?.sentence.contains("cannot reach the stage's router") ?? (stageID != "s"))
    }

    @Test func `refuses plain RTMP where TLS is required`() {
        gate.requiresTLS = true
        nonisolated(unsafe) var codes: [RefusalCode?] = []
        for ingestProtocol in [IngestProtocol.rtmp, .rtmps, .whip] {
            var attempt = request
            attempt.ingestProtocol = ingestProtocol
            gate.authorize(attempt) { result in
                if case .failure(let refusal) = result { codes.append(refusal.code) } else { codes.append(nil) }
            }
        }
        #expect(codes == [.insecureProtocol, nil, nil])
    }
}
