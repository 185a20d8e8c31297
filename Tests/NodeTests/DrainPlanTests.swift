import Settings
import Testing
import Wire

@testable import Node

@Suite("Drain plan")
struct DrainPlanTests {
    static let settings = DrainSettings(grace: .seconds(5), timeout: .seconds(60), closesPerSecond: 10)
    let start = MonotonicTime(nanoseconds: 1_000_000_000)

    @Test func `with nothing live it is over at once`() {
        var plan = DrainPlan(Self.settings, at: start)
        #expect(plan.turn(liveCount: 0, at: start) == [.refusePublishes, .finish])
        #expect(plan.turn(liveCount: 0, at: start) == [])
    }

    @Test func `publishes are taken in the grace period and refused after it`() {
        var plan = DrainPlan(Self.settings, at: start)
        #expect(plan.turn(liveCount: 2, at: start) == [])
        #expect(plan.phase == .grace)
        #expect(plan.turn(liveCount: 2, at: start + .seconds(5)) == [.refusePublishes])
        #expect(plan.turn(liveCount: 2, at: start + .seconds(30)) == [])
        #expect(plan.phase == .refusing)
    }

    @Test func `the end of the last stream ends it before the deadline`() {
        var plan = DrainPlan(Self.settings, at: start)
        _ = plan.turn(liveCount: 1, at: start)
        _ = plan.turn(liveCount: 1, at: start + .seconds(6))
        #expect(plan.turn(liveCount: 0, at: start + .seconds(7)) == [.finish])
    }

    @Test func `after the deadline streams end at the configured pace`() {
        var plan = DrainPlan(Self.settings, at: start)
        _ = plan.turn(liveCount: 40, at: start + .seconds(5))
        var live = 40
        var perTurn: [Int] = []
        for turn in 0...40 {
            for action in plan.turn(liveCount: live, at: start + .seconds(60) + .milliseconds(100) * turn) {
                guard case .close(let count) = action else { continue }
                live -= count
                perTurn.append(count)
            }
        }
        #expect(live == 0 && plan.phase == .finished)
        #expect(perTurn.allSatisfy { $0 <= 2 })
    }

    @Test func `more time in the midst of closing is for those that were not told to end`() {
        var plan = DrainPlan(Self.settings, at: start)
        _ = plan.turn(liveCount: 40, at: start + .seconds(5))
        #expect(plan.turn(liveCount: 40, at: start + .seconds(60)) == [.close(count: 1)])
        plan.apply(.init(grace: .seconds(5), timeout: .seconds(90), closesPerSecond: 20))
        #expect(plan.turn(liveCount: 39, at: start + .seconds(61)) == [])
        #expect(plan.turn(liveCount: 39, at: start + .seconds(90)) == [.close(count: 1)])
        #expect(plan.turn(liveCount: 38, at: start + .seconds(91)) == [.close(count: 20)])
    }

    @Test func `a late turn catches up and never ends more than live`() {
        var plan = DrainPlan(.init(grace: .zero, timeout: .zero, closesPerSecond: 10), at: start)
        #expect(plan.turn(liveCount: 3, at: start) == [.refusePublishes, .close(count: 1)])
        #expect(plan.turn(liveCount: 2, at: start + .seconds(1)) == [.close(count: 2)])
    }

    @Test func `streams that do not end are left behind`() {
        var plan = DrainPlan(.init(grace: .zero, timeout: .zero, closesPerSecond: 1_000), at: start)
        var now = start
        while plan.phase != .finished, now - start < .seconds(60) {
            _ = plan.turn(liveCount: 1, at: now)
            now = now + .milliseconds(100)
        }
        #expect(now - start < .seconds(20))
    }

    @Test func `a budget is spent once by whoever comes first`() {
        let budget = CloseBudget()
        budget.allow(5)
        var spent: [Int] = []
        for live in [2, 9, 1] {
            budget.spend { allowed in
                spent.append(min(allowed, live))
                return min(allowed, live)
            }
        }
        #expect(spent == [2, 3])
    }
}
