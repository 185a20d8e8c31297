import Testing
import Wire

@Suite("How often something may happen")
struct AllowanceTests {
    private static let start = MonotonicTime(nanoseconds: 1)

    /// How many of `count` are taken, one in each interval from that time on.
    private static func taken(
        _ count: Int, every interval: Duration, from time: Duration = .zero, of allowance: inout Allowance
    ) -> Int {
        (0..<count).count { allowance.take(at: start + time + interval * $0) }
    }

    @Test(arguments: [Duration.seconds(1), .milliseconds(1_500), .seconds(60)])
    func `whoever keeps to the interval is never refused`(_ interval: Duration) {
        var allowance = Allowance(3, then: .seconds(1))
        #expect(Self.taken(5_000, every: interval, of: &allowance) == 5_000)
    }

    @Test func `some at once, then one in each interval`() {
        var allowance = Allowance(30, then: .seconds(1))
        #expect(Self.taken(100, every: .zero, of: &allowance) == 30)
        #expect(Self.taken(1_000, every: .milliseconds(10), from: .milliseconds(10), of: &allowance) == 10)
        #expect(Self.taken(100, every: .zero, from: .seconds(3_600), of: &allowance) == 30, "no more are kept than at first")
    }

    @Test func `several are taken together or not at all, and spent as far as they go`() {
        var allowance = Allowance(10, then: .seconds(1))
        let together = [7, 4, 3].map { allowance.take($0, at: Self.start) }
        #expect(together == [true, false, true])
        allowance.giveBack()
        allowance.spend(5, at: Self.start)
        let later = [999, 1_000].map { allowance.take(at: Self.start + .milliseconds($0)) }
        #expect(later == [false, true])
    }

    @Test func `what is given back is never more than there was`() {
        var allowance = Allowance(2, then: .seconds(1))
        for _ in 0..<9 { allowance.giveBack() }
        #expect(Self.taken(9, every: .zero, of: &allowance) == 2)
    }

    /// A clock that steps back, and one that has stood still for centuries.
    @Test func `no time is too strange`() {
        var allowance = Allowance(1, then: .seconds(1))
        let taken = [Int64.max, 0, .max, .min].map { allowance.take(at: MonotonicTime(nanoseconds: $0)) }
        #expect(taken == [true, false, true, false])
    }

    @Test func `moments saturate where nanoseconds end`() {
        let (first, last) = (MonotonicTime(nanoseconds: .min), MonotonicTime(nanoseconds: .max))
        #expect(last + .seconds(1) == last && first - .seconds(1) == first)
        #expect((last - first).nanoseconds == .max && (first - last).nanoseconds == .min)
        let (dawn, dusk) = (WallTime(nanosecondsSince1970: .min), WallTime(nanosecondsSince1970: .max))
        #expect(dusk + .seconds(1) == dusk && dawn + .seconds(-1) == dawn)
        #expect((dusk - dawn).nanoseconds == .max && (dawn - dusk).nanoseconds == .min)
    }
}
