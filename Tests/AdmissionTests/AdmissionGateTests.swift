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
    let request = PublishRequest(
        credential: .token(Secret("t")), ingestProtocol: .whip, source: SocketAddress(.loopback, port: 1), userAgent: "")

    func answer() -> RefusalCode? {
        nonisolated(unsafe) var code: RefusalCode?
        gate.authorize(request) { if case .failure(let refusal) = $0 { code = refusal.code } }
        return code
    }

    @Test func `lets everybody in by default`() { #expect(answer() == nil) }

    @Test(arguments: [(AdmissionGate.Closure.draining, RefusalCode.draining), (.overloaded, .overloaded), (.noRouter, .noRouter)])
    func `refuses while closed`(_ closure: AdmissionGate.Closure, _ code: RefusalCode) {
        gate.set(closure, true)
        #expect(answer() == code)
        gate.set(closure, false)
        #expect(answer() == nil)
    }

    @Test func `a drain weighs more than overload and outlives it`() {
        gate.set(.overloaded, true)
        gate.set(.draining, true)
        #expect(answer() == .draining)
        gate.set(.overloaded, false)
        #expect(answer() == .draining)
        gate.set(.draining, false)
        #expect(answer() == nil)
    }

    @Test func `refuses beyond the limit until a publish ends`() {
        gate.limitPublishes(to: 1)
        #expect(answer() == nil)
        gate.publishBegan()
        #expect(answer() == .overloaded)
        gate.publishEnded()
        #expect(answer() == nil)
    }

    /// Answers after something else has happened.
    private final class Slow: Authorizer {
        nonisolated(unsafe) var meanwhile: () -> Void = {}

        func authorize(_ request: PublishRequest, reply: @escaping @Sendable (Result<PublishGrant, Refusal>) -> Void) {
            meanwhile()
            Everybody().authorize(request, reply: reply)
        }
    }

    @Test func `looks again when an answer comes that took its time`() {
        #expect(answer { _ in } == nil)
        #expect(answer { $0.publishBegan() } == .overloaded)
        #expect(answer { $0.set(.draining, true) } == .draining)
    }

    /// Of a gate with one place.
    private func answer(meanwhile: @escaping (AdmissionGate) -> Void) -> RefusalCode? {
        let authorizer = Slow()
        let gate = AdmissionGate(before: authorizer)
        gate.limitPublishes(to: 1)
        authorizer.meanwhile = { meanwhile(gate) }
        nonisolated(unsafe) var code: RefusalCode?
        gate.authorize(request) { if case .failure(let refusal) = $0 { code = refusal.code } }
        return code
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
        gate.requireTLS(true)
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
