import Testing
import Wire

@testable import Cluster

@Suite("What dead nodes left")
struct BurialsTests {
    private static let ended = EndedLease(
        LeaseIdentity(LeaseKey(stageID: "one", participantID: "p"), generation: 9), sessionID: "st-1")

    private var burials = Burials()

    private static func moment(_ seconds: Int) -> MonotonicTime { .zero + .seconds(seconds) }

    private func sweep(_ stage: String, told: [LeaseIdentity] = []) -> ClusterAction {
        .call(.sweep(stage: stage, node: "b", told: told))
    }

    @Test mutating func `a burial that is stuck begins anew`() {
        let asked = [0, 9, 10].map { burials.begin(["b"], Self.moment($0)) }
        #expect(asked == [[.call(.stages(ofNode: "b"))], [], [.call(.stages(ofNode: "b"))]])
    }

    @Test mutating func `a node without stages is buried at once, and one that is back not at all`() {
        let unknown = burials.found(["one"], of: "b")
        _ = burials.begin(["b"], .zero)
        let found = burials.found([], of: "b")
        #expect(unknown.isEmpty && found == [.call(.bury(node: "b"))])
        let (forgotten, back) = (burials.buried("b", isForgotten: true), burials.buried("b", isForgotten: false))
        #expect(forgotten == [.call(.forgetStages(ofNode: "b"))] && back.isEmpty)
    }

    @Test mutating func `stages are swept until nothing is left of the node, and the history is told once`() {
        _ = burials.begin(["b"], .zero)
        let found = burials.found(["two", "one"], of: "b")
        #expect(found == [.call(.mark(stages: ["one", "two"])), sweep("one"), sweep("two")])
        let swept = burials.swept("one", of: "b", left: 1, [Self.ended])
        #expect(swept == [.closed(stage: "one", [Self.ended]), sweep("one", told: [Self.ended.lease])])
        let again = burials.swept("one", of: "b", left: 1, [Self.ended])
        #expect(again.isEmpty && burials.sweepsAgain == [sweep("one", told: [Self.ended.lease]), sweep("two")])
        let rest = ["one", "two"].map { burials.swept($0, of: "b", left: 0, []) }
        #expect(rest == [[], [.call(.bury(node: "b"))]] && burials.sweepsAgain.isEmpty)
    }

    @Test mutating func `what a node left that is back is not swept any more`() {
        _ = burials.begin(["b"], .zero)
        _ = burials.found(["one"], of: "b")
        burials.end("b")
        #expect(burials.sweepsAgain.isEmpty)
    }
}
