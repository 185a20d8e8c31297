import Testing
import Wire

@testable import RTMPIngest

@Suite("Takeover decision")
struct TakeoverTests {
    private func at(_ milliseconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: milliseconds * 1_000_000) }

    @Test(
        arguments: [
            (9_990, 10_000, .wait(.milliseconds(50))),  // just before the attempt: not yet known
            (10_001, 10_010, .refuse),  // a frame after it: alive
            (9_990, 11_989, .wait(.milliseconds(1))),
            (9_990, 11_990, .takeOver),
            (1_000, 10_000, .takeOver),  // silent for long: at once
            (10_000, 10_000, .wait(.milliseconds(50))),  // at the very moment
        ] as [(Int64, Int64, Takeover.Decision)])
    func `follows the incumbent's frames`(_ progress: Int64, _ now: Int64, _ decision: Takeover.Decision) {
        let takeover = Takeover(began: at(10_000), silence: .seconds(2))
        #expect(takeover.decision(incumbentProgress: at(progress), now: at(now)) == decision)
    }
}
