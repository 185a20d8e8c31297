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
}
