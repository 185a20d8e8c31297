import Settings
import Testing
import Wire

@testable import Cluster

@Suite("The stages that a node sees to")
struct OwnStagesTests {
    private var stages = OwnStages(Self.settings)

    private static var settings: NodeSettings {
        var settings = NodeSettings(nodeID: "a")
        settings.quotas.sessionLinger = .seconds(5)
        return settings
    }

    private func moment(_ seconds: Int) -> MonotonicTime { .zero + .seconds(seconds) }

    private func asked(_ told: String? = nil) -> ClusterAction { .call(.idle(stage: "one", told: told)) }

    @Test mutating func `an idle stage is asked for after its time, and again until there is an answer`() {
        stages.awaitEnd(on: "one", moment(0))
        let questions = [4, 5, 7, 8].map { stages.askForEnds(moment($0)) }
        #expect(questions == [[], [asked()], [], [asked()]])
        let answer = stages.answered("one", .wait(.seconds(2)), isClaimed: { _ in false }, moment(9))
        let later = [10, 11].map { stages.askForEnds(moment($0)) }
        #expect(answer.isEmpty && later == [[], [asked()]])
        stages.publishBegan(on: "one")
        let none = stages.askForEnds(moment(60))
        #expect(none.isEmpty)
    }

    @Test mutating func `the end of its session is told once, and said until the server knows that`() {
        stages.awaitEnd(on: "one", moment(0))
        let over = ClusterAnswer.Idleness.ended(sessionID: "st-1", [])
        let told = stages.answered("one", over, isClaimed: { _ in false }, moment(5))
        #expect(told == [.sessionEnded(stage: "one", sessionID: "st-1"), asked("st-1")])
        let again = stages.answered("one", over, isClaimed: { _ in false }, moment(6))
        let question = stages.askForEnds(moment(8))
        #expect(again.isEmpty && question == [asked("st-1")])
    }

    @Test mutating func `a stage is left, unless somebody claims there`() {
        stages.add(["one", "another"])
        #expect(stages.marks == [.call(.mark(stages: ["another", "one"]))])
        stages.awaitEnd(on: "one", moment(0))
        let claimed = stages.answered("one", .live, isClaimed: { $0 == "one" }, moment(5))
        #expect(claimed.isEmpty && stages.contains("one"))
        stages.awaitEnd(on: "one", moment(5))
        let left = stages.answered("one", .none, isClaimed: { _ in false }, moment(10))
        #expect(left == [.call(.unmark(stage: "one"))] && !stages.contains("one"))
        let unknown = stages.answered("one", .none, isClaimed: { _ in false }, moment(10))
        #expect(unknown.isEmpty)
    }

    /// With `cluster.degraded: admit` each node begins one; the servers know the first that they hear of.
    @Test(arguments: [ClusterAnswer.Idleness.live, .none])
    mutating func `sessions that began while the servers were away end with the stage`(answer: ClusterAnswer.Idleness) {
        stages.add(["one"])
        for session in ["st-1", "st-2"] { stages.beganAlone(session, on: "one") }
        stages.awaitEnd(on: "one", moment(0))
        let known = ClusterAnswer.Idleness.ended(sessionID: "st-1", [])
        let told = stages.answered("one", known, isClaimed: { _ in false }, moment(5))
        #expect(told == [.sessionEnded(stage: "one", sessionID: "st-1"), asked("st-1")])
        let left = stages.answered("one", answer, isClaimed: { _ in false }, moment(6))
        #expect(left == [.sessionEnded(stage: "one", sessionID: "st-2"), .call(.unmark(stage: "one"))])
        stages.awaitEnd(on: "one", moment(7))
        let again = stages.answered("one", answer, isClaimed: { _ in false }, moment(12))
        #expect(again == [.call(.unmark(stage: "one"))])
    }

    @Test mutating func `a claim's lease has time to expire`() {
        stages.awaitEnd(on: "one", moment(0))
        stages.outwaitClaim(on: "one", moment(0))
        let questions = [9, 10].map { stages.askForEnds(moment($0)) }
        #expect(questions == [[], [asked()]])
    }

    @Test mutating func `those of the process before are asked for when its leases have expired`() {
        stages.takeUp(["one", "two"], deserted: ["one"], moment(0))
        #expect(stages.hasTakenUp && stages.contains("two"))
        let questions = [9, 10].map { stages.askForEnds(moment($0)) }
        #expect(questions == [[], [asked()]])
    }
}
