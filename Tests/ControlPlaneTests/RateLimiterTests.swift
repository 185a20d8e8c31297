import Settings
import Testing
import Wire

@testable import ControlPlane

@Suite("Rates of the API")
struct RateLimiterTests {
    @Test func `a key has a second's worth of each operation, whatever the others ask`() {
        var rates = RateSettings()
        rates.resources = 3
        var (limiter, now) = (RateLimiter(rates), MonotonicTime(nanoseconds: 0))
        func admitted(_ operation: Operation, of key: String) -> Int {
            (0..<10).count { _ in limiter.admit(operation, of: key, at: now) }
        }
        #expect(admitted(.getStage, of: "a") == 3)
        #expect(admitted(.getStage, of: "b") == 3)
        #expect(admitted(.listStages, of: "a") == 3)
        now = now + .milliseconds(700)
        #expect(admitted(.getStage, of: "a") == 2)
    }

    @Test func `every operation has IVS' rate unless the configuration says otherwise`() {
        let others: [Operation: Int] = [
            .createParticipantToken: 50, .importPublicKey: 3, .getPublicKey: 3, .listPublicKeys: 3, .deletePublicKey: 3,
            .tagResource: 10, .untagResource: 10, .listTagsForResource: 10,
        ]
        var limiter = RateLimiter(RateSettings())
        for operation in Operation.allCases {
            let admitted = (0..<100).count { _ in limiter.admit(operation, of: "a", at: MonotonicTime(nanoseconds: 0)) }
            #expect(admitted == others[operation, default: 5], "\(operation.rawValue)")
        }
    }
}
