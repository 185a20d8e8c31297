import Admission
import Testing

@testable import RouterForwarding

@Suite("Announces that nobody waits for any more")
struct AbandonedAnnouncesTests {
    /// A publication of participant `p` that is announced to router `a`, and has no answer yet.
    private static func asking(_ serial: UInt64, generation: UInt64) -> ForwardedParticipant {
        var participant = publication(serial)
        participant.begin(0, at: PlacementRecord(router: "a", generation: generation))
        return participant
    }

    private static func publication(_ serial: UInt64) -> ForwardedParticipant {
        let id = ForwardingID(participant: ParticipantKey("p", onStage: "s"), serial: serial)
        return ForwardedParticipant(id, .of("p", stage: "s", generation: 1), replicas: 1)
    }

    private static func announce(of participant: ForwardedParticipant) -> PlacementAnnounce.ID {
        PlacementAnnounce.ID(slot: participant.slots[0], generation: participant.generation)
    }

    @Test func `what stands is left to the router's next answer, and is to be ended with the last one`() throws {
        var abandoned = AbandonedAnnounces()
        let (first, second) = (Self.asking(1, generation: 7), Self.asking(2, generation: 5))
        for participant in [first, second] { abandoned.add(participant.slots[0], of: participant, .unpublished) }
        let removed = abandoned.remove(Self.announce(of: first))
        let former = try #require(removed)
        let isPassedOn = abandoned.passOn(former)
        #expect(!former.standsAnyway && isPassedOn)
        let heir = abandoned.remove(Self.announce(of: second))
        let last = try #require(heir)
        let isPassedOnAgain = abandoned.passOn(last)
        #expect(last.standsAnyway && last.generation == 7 && !isPassedOnAgain && abandoned.isEmpty)
    }

    @Test func `the next publication goes on above them, and ends what stands in their place`() {
        var abandoned = AbandonedAnnounces()
        let former = Self.asking(1, generation: 5)
        abandoned.add(former.slots[0], of: former, .unpublished, standsAnyway: true)
        var next = Self.publication(2)
        abandoned.bequeath(to: &next)
        #expect(next.generation == 5 && next.replicas[0].standing == "a")
        let left = abandoned.remove(Self.announce(of: former))
        #expect(left?.standsAnyway == false)
    }

    @Test func `an announce that has its answer is none of them`() {
        var abandoned = AbandonedAnnounces()
        var live = Self.asking(1, generation: 5)
        live.succeeded(0, LegPlan(cname: "", tracks: []))
        abandoned.add(live.slots[0], of: live, .unpublished)
        #expect(abandoned.isEmpty)
    }
}
