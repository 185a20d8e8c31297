import Testing
import Wire

@testable import Recording

@Suite("How often segments may begin")
struct SegmentAllowanceTests {
    private static func beginnings(every interval: Duration, for time: Duration) -> [Bool] {
        var allowance = SegmentAllowance()
        var (now, answers) = (MonotonicTime(nanoseconds: 1), [Bool]())
        let end = now + time
        while now < end {
            answers.append(allowance.take(at: now))
            now = now + interval
        }
        return answers
    }

    @Test(arguments: [Duration.seconds(1), .milliseconds(1_500), .seconds(60)])
    func `as often as an encoder has cause for`(_ interval: Duration) {
        #expect(Self.beginnings(every: interval, for: .seconds(3_600)).allSatisfy { $0 })
    }

    @Test
    func `some at once, and then one a second`() {
        let answers = Self.beginnings(every: .milliseconds(10), for: .seconds(10))
        #expect(answers.prefix(SegmentAllowance.maximum).allSatisfy { $0 })
        #expect(answers.count { $0 } == SegmentAllowance.maximum + 9)
    }
}
