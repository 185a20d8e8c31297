import Testing
import Wire

@testable import EventLoop

@Suite("When the kernel's timer wakes a loop")
struct TimerAlarmTests {
    private static let now = moment(1_000)

    private static func moment(_ milliseconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: milliseconds * 1_000_000) }

    /// Set for a moment that is still to come.
    private static func armed(for milliseconds: Int64) -> TimerAlarm {
        var alarm = TimerAlarm()
        #expect(alarm.timerStarted(first: moment(milliseconds), at: now) == .at(moment(milliseconds)))
        return alarm
    }

    @Test func `it is set for the first deadline, and again only for an earlier one`() {
        var alarm = Self.armed(for: 1_050)
        #expect(alarm.timerStarted(first: Self.moment(1_050), at: Self.now) == nil)
        #expect(alarm.timerStarted(first: Self.moment(1_020), at: Self.now) == .at(Self.moment(1_020)))
        #expect(!alarm.isDue)
    }

    /// As of a watchdog that is fed.
    @Test func `a first timer that was cancelled or rearmed for later costs a wake-up, and is set anew after it`() {
        var alarm = Self.armed(for: 1_050)
        #expect(alarm.timerStarted(first: Self.moment(1_090), at: Self.now) == nil)
        alarm.servingBegins()
        #expect(alarm.servingEnds(first: Self.moment(1_090), at: Self.moment(1_051)) == .at(Self.moment(1_090)))
    }

    @Test func `what is due already is told by the next turn alone`() {
        var alarm = TimerAlarm()
        #expect(alarm.timerStarted(first: Self.now, at: Self.now) == nil)
        #expect(alarm.isDue)
        let turns = [alarm.takeDue(), alarm.takeDue()]
        #expect(turns == [true, false] && !alarm.isDue)
    }

    @Test func `what is started while timers are served is set once, at the end`() {
        var alarm = Self.armed(for: 1_050)
        let now = Self.moment(1_051)
        alarm.servingBegins()
        for deadline in [1_052, 1_060, 1_051] as [Int64] {
            #expect(alarm.timerStarted(first: Self.moment(deadline), at: now) == nil)
        }
        #expect(!alarm.isDue)
        #expect(alarm.servingEnds(first: Self.moment(1_052), at: now) == .at(Self.moment(1_052)))
    }

    /// One that starts itself anew without delay.
    @Test func `what is due again when timers were served has another turn`() {
        var alarm = Self.armed(for: 1_050)
        let now = Self.moment(1_051)
        alarm.servingBegins()
        #expect(alarm.servingEnds(first: now, at: now) == nil)
        #expect(alarm.isDue)
    }

    @Test func `with no timer left it is off, until there is one`() {
        var alarm = Self.armed(for: 1_050)
        alarm.servingBegins()
        #expect(alarm.servingEnds(first: nil, at: Self.moment(1_051)) == .off)
        #expect(alarm.timerStarted(first: nil, at: Self.moment(1_051)) == nil)
        #expect(alarm.timerStarted(first: Self.moment(1_090), at: Self.moment(1_051)) == .at(Self.moment(1_090)))
    }
}
