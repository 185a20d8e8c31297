import Testing
import Wire

@testable import Cluster

@Suite("A node's claims under way")
struct NodeClaimsTests {
    private static func claim(_ number: Int, _ participant: String = "p") -> NodeClaim {
        NodeClaim(number: number, key: key(participant), set: "s", credential: "c", takesOver: false, isToken: true)
    }

    private static func moment(_ seconds: Int) -> MonotonicTime { .zero + .seconds(seconds) }
    private static func key(_ participant: String) -> LeaseKey { LeaseKey(stageID: "one", participantID: participant) }

    @Test func `those of one participant take turns`() {
        var claims = NodeClaims()
        let turns = [Self.claim(1), Self.claim(2), Self.claim(3, "q")].map { claims.add($0) }
        #expect(turns == [true, false, true])
        let first = claims.remove(1)
        #expect(first?.number == 1 && claims.first(of: Self.key("p")) == 2)
        let (second, none) = (claims.remove(2), claims.remove(2))
        #expect(second?.number == 2 && none?.number == nil && claims.first(of: Self.key("p")) == nil)
        #expect(claims.contains(stage: "one") && !claims.contains(stage: "two"))
    }

    @Test func `what was answered is not set any more`() {
        var claims = NodeClaims()
        claims[1] = Self.claim(1)
        #expect(claims[1]?.number == nil)
    }

    @Test func `the lease that a claim was told of is forgotten when nobody asks any more, or too many were told`() {
        var claims = NodeClaims()
        let (first, last) = (Self.key("0"), Self.key("\(NodeClaims.maximumSeen)"))
        claims.saw(7, by: first, Self.moment(0))
        let (asked, later) = (claims.lastSeen(by: first, Self.moment(59)), claims.lastSeen(by: first, Self.moment(300)))
        #expect(asked == 7 && later == nil)
        for number in 0...NodeClaims.maximumSeen { claims.saw(8, by: Self.key("\(number)"), Self.moment(300)) }
        let seen = [first, last].map { claims.lastSeen(by: $0, Self.moment(300)) }
        #expect(seen == [nil, 8])
        claims.forgetSeen(by: last, Self.moment(300))
        let forgotten = claims.lastSeen(by: last, Self.moment(300))
        #expect(forgotten == nil)
    }

    @Test func `whoever has waited is due in the order in which they came`() {
        var claims = NodeClaims()
        for (number, seconds) in [(3, 1), (1, 1), (2, 5), (4, 0)] {
            _ = claims.add(Self.claim(number, "p\(number)"))
            claims[number]?.phase = seconds == 0 ? .marking : .waiting(until: Self.moment(seconds))
        }
        #expect(claims.deadline == Self.moment(1))
        #expect(claims.due(Self.moment(0)).isEmpty && claims.due(Self.moment(1)) == [1, 3])
        #expect(claims.due(Self.moment(5)) == [1, 2, 3])
        #expect(claims.marking(["one"]) == [4] && claims.marking(["two"]).isEmpty)
    }
}
