import Testing
import Wire

@testable import RouterForwarding

@Suite("Routers, as the placement machine knows them")
struct PlacementRoutersTests {
    private typealias Change = PlacementRouters.Change

    @Test func `each answer to a check tells what it has changed`() {
        var routers = PlacementRouters(hasHealth: ["a": true])
        let answers = [false, false, false, false, true, true, true, true]
        let changes = answers.map { routers.take(.check(isGood: $0), of: "a", at: .zero) }
        let death = [Change(isAvailable: false), Change(), Change(hasDied: true), Change()]
        let revival = [Change(), Change(), Change(hasReturned: true, isAvailable: true), Change()]
        #expect(changes == death + revival)
    }

    @Test func `one that cannot be asked lives, one that is not in the configuration does not`() {
        var routers = PlacementRouters(hasHealth: ["a": true, "b": false])
        let changes = ["b", "c"].map { routers.take(.unansweredAnnounce, of: $0, at: .zero) }
        #expect(changes == [Change(), Change()])
        let (asked, askedAgain) = (routers.beginChecks(), routers.beginChecks())
        #expect(asked == ["a"] && askedAgain.isEmpty)
        #expect(routers.names == ["a", "b"] && routers.alive == routers.names && routers.eligible == routers.names)
        #expect(!routers.contains("c") && !routers.isAlive("c") && !routers.isEligible("c"))
    }

    @Test func `what a dead one may hold is taken once, in the order of the participants`() {
        var routers = PlacementRouters(hasHealth: ["a": true])
        for participant in ["r", "q", "p"] { routers.leave(.of(participant, stage: "s", generation: 1), at: "a") }
        let announced = routers.takeLeft(of: Announcement.of("q", stage: "s", generation: 2).participant, at: "a")
        #expect(announced?.participantID == "q")
        let (left, leftThen) = (routers.takeLeft(at: "a"), routers.takeLeft(at: "a"))
        #expect(left.map(\.participantID) == ["p", "r"] && leftThen.isEmpty)
    }
}
