import Testing
import Wire

@testable import Admission

@Suite("Takeover decision")
struct TakeoverTests {
    private func at(_ milliseconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: milliseconds * 1_000_000) }

    @Test(
        arguments: [
            (9_990, 10_000, .wait(.milliseconds(1))),  // just before the attempt: not yet known
            (10_001, 10_010, .refuse),  // a frame after it: alive
            (9_990, 11_989, .wait(.milliseconds(1))),
            (9_990, 11_990, .takeOver),
            (1_000, 10_000, .takeOver),  // silent for long: at once
            (10_000, 10_000, .wait(.milliseconds(1))),  // at the very moment
        ] as [(Int64, Int64, Takeover.Decision)])
    func `follows the incumbent's frames`(_ progress: Int64, _ now: Int64, _ decision: Takeover.Decision) {
        var takeover = Takeover(began: at(10_000), silence: .seconds(2))
        #expect(takeover.decision(incumbentProgress: at(progress), now: at(now)) == decision)
    }

    @Test func `looks soon at first, then ever more seldom`() {
        var takeover = Takeover(began: at(10_000), silence: .seconds(2))
        var now: Int64 = 10_000
        var looks: [Int64] = []
        while case .wait(let delay) = takeover.decision(incumbentProgress: at(10_000), now: at(now)) {
            now += Int64(delay.milliseconds)
            looks.append(now - 10_000)
        }
        #expect(looks.prefix(8) == [1, 3, 7, 15, 31, 63, 113, 163])
        // Never behind the end of the silence that it waits for.
        #expect(looks.last == 2_000)
    }

    @Test func `progress that another process tells of is long ago at the most`() {
        let incumbent = RemoteHolder(progress: at(9_990)) { _ in }
        incumbent.progressed(at: MonotonicTime(nanoseconds: .min))
        var takeover = Takeover(began: at(10_000), silence: .seconds(2))
        #expect(takeover.decision(incumbentProgress: incumbent.lastProgress, now: at(10_000)) == .takeOver)
    }
}
