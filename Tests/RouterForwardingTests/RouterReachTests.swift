import Testing
import Wire

@testable import RouterForwarding

@Suite("Routers that one gateway alone cannot reach")
struct RouterReachTests {
    @Test func `a router that has just died is nobody's fault yet`() {
        var reach = RouterReach()
        let start = MonotonicTime(nanoseconds: 1_000_000_000)
        #expect(reach.outOfReach(living: ["c"], seenByOthers: ["a", "c"], at: start).isEmpty)
        #expect(reach.outOfReach(living: ["c"], seenByOthers: ["a", "c"], at: start + .milliseconds(5_999)).isEmpty)
        #expect(reach.outOfReach(living: ["c"], seenByOthers: ["a", "c"], at: start + .seconds(6)) == ["a"])
    }

    /// Nothing moves its stages as long as others see it, and nothing can be sent there from here.
    @Test func `a router that only other gateways' configurations have is out of reach`() {
        var reach = RouterReach()
        let start = MonotonicTime(nanoseconds: 1_000_000_000)
        _ = reach.outOfReach(living: ["mine"], seenByOthers: ["theirs"], at: start)
        #expect(reach.outOfReach(living: ["mine"], seenByOthers: ["theirs"], at: start + .seconds(6)) == ["theirs"])
    }

    @Test(arguments: zip([[], ["a"]] as [Set<String>], [[], ["a"]] as [Set<String>]))
    func `it is in reach, or dead for all, at once, and doubt begins anew`(_ living: Set<String>, _ others: Set<String>) {
        var reach = RouterReach()
        let start = MonotonicTime(nanoseconds: 1_000_000_000)
        _ = reach.outOfReach(living: [], seenByOthers: ["a"], at: start)
        #expect(reach.outOfReach(living: [], seenByOthers: ["a"], at: start + .seconds(9)) == ["a"])
        #expect(reach.outOfReach(living: living, seenByOthers: others, at: start + .seconds(10)).isEmpty)
        #expect(reach.outOfReach(living: [], seenByOthers: ["a"], at: start + .seconds(11)).isEmpty)
        #expect(reach.outOfReach(living: [], seenByOthers: ["a"], at: start + .seconds(17)) == ["a"])
    }
}
