import Testing
import Wire

@testable import Cluster

@Suite("Leases taken over of nodes that can tell themselves")
struct DisplacementsTests {
    private static func moment(_ seconds: Int) -> MonotonicTime { .zero + .seconds(seconds) }

    @Test func `the history is told for them a second after their next renewal, once`() {
        var displacements = Displacements(NodeSettings(nodeID: "a"))
        let lease = EndedLease(
            LeaseIdentity(LeaseKey(stageID: "one", participantID: "p"), generation: 9), sessionID: "st-1")
        displacements.add(lease, .zero)
        #expect(displacements.deadline == Self.moment(4))
        let told = [3, 4, 5].map { displacements.tellDue(Self.moment($0)) }
        #expect(told == [[], [.closed(stage: "one", [lease])], []] && displacements.deadline == nil)
    }
}
