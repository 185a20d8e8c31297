import Testing
import Wire

@testable import RouterForwarding

@Suite("Routers that one gateway alone cannot reach")
struct RouterReachTests {
    @Test func `a router that has just died is nobody's fault yet`() {
        var reach = RouterReach()
        let start = MonotonicTime(nanoseconds: 1_000_000_000)
        #expect(reach.outOfReach(dead: ["a", "b"], seenByOthers: ["a", "c"], at: start).isEmpty)
        #expect(reach.outOfReach(dead: ["a", "b"], seenByOthers: ["a", "c"], at: start + .milliseconds(5_999)).isEmpty)
        #expect(reach.outOfReach(dead: ["a", "b"], seenByOthers: ["a", "c"], at: start + .seconds(6)) == ["a"])
    }

    @Test(arguments: zip([[], ["a"]] as [Set<String>], [["a"], []] as [Set<String>]))
    func `it is in reach, or dead for all, at once, and doubt begins anew`(_ dead: Set<String>, _ others: Set<String>) {
        var reach = RouterReach()
        let start = MonotonicTime(nanoseconds: 1_000_000_000)
        _ = reach.outOfReach(dead: ["a"], seenByOthers: ["a"], at: start)
        #expect(reach.outOfReach(dead: ["a"], seenByOthers: ["a"], at: start + .seconds(9)) == ["a"])
        #expect(reach.outOfReach(dead: dead, seenByOthers: others, at: start + .seconds(10)).isEmpty)
        #expect(reach.outOfReach(dead: ["a"], seenByOthers: ["a"], at: start + .seconds(11)).isEmpty)
        #expect(reach.outOfReach(dead: ["a"], seenByOthers: ["a"], at: start + .seconds(17)) == ["a"])
    }
}
