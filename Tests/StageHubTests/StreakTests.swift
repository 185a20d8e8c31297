import Testing
import Wire

@testable import StageHub

@Suite("Streak")
struct StreakTests {
    private let start = MonotonicTime(nanoseconds: 9_000_000_000)

    @Test func `holds since the first of those that came without a break`() {
        var streak = Streak()
        for second in 0...2 { streak.note(true, at: start + .seconds(second)) }
        #expect(streak.holds && streak.start == start)
        #expect(streak.lasts(.seconds(2), at: start + .seconds(2)))
        #expect(!streak.lasts(.seconds(2), at: start + .milliseconds(1_999)))
    }

    @Test func `a break ends it, and what comes then begins another one`() {
        var streak = Streak()
        streak.note(true, at: start)
        streak.note(false, at: start + .seconds(1))
        #expect(!streak.holds && !streak.lasts(.zero, at: start + .seconds(1)))
        streak.note(true, at: start + .seconds(3))
        #expect(streak.start == start + .seconds(3))
    }
}
