import Testing
import Wire

@testable import Cluster

@Suite("The leases that a node holds")
struct HeldLeasesTests {
    private static let session = SharedSession(id: "st-1", start: 7)

    private static func lease(_ participant: String, _ generation: UInt64, stage: String = "one") -> LeaseIdentity {
        LeaseIdentity(LeaseKey(stageID: stage, participantID: participant), generation: generation)
    }

    private static func moment(_ seconds: Int) -> MonotonicTime { .zero + .seconds(seconds) }

    private static func holding(_ leases: LeaseIdentity...) -> HeldLeases {
        var held = HeldLeases()
        for lease in leases { held.keep(lease, set: lease.key.participantID, credential: "c", in: session) }
        return held
    }

    @Test func `others know a revived lease by its present generation, its session by the first`() {
        let (granted, revived) = (Self.lease("p", 5), Self.lease("p", 9))
        var held = Self.holding(granted)
        held.revive(granted.key, as: 9)
        #expect(held.asGranted(revived) == granted && held.asGranted(granted) == nil)
        #expect(held.asGranted(ofStage: "one", participant: nil) == [granted])
        let (givenBack, givenBackAgain) = (held.release(granted), held.release(granted))
        #expect(givenBack == revived && givenBackAgain == nil)
        #expect(!held.contains(stage: "one") && held.highestGeneration == 9)
    }

    @Test func `another lease of the same participant stays`() {
        var held = Self.holding(Self.lease("p", 6))
        let givenBack = held.release(Self.lease("p", 5))
        #expect(givenBack == nil && held[Self.lease("p", 6).key]?.granted == 6)
    }

    @Test func `what the server may not have heard of is taken once, in one order`() {
        var held = HeldLeases()
        for lease in [Self.lease("q", 7), Self.lease("p", 7), Self.lease("r", 3)] { held.releaseLater(lease) }
        let (taken, takenAgain) = (held.takeUnreleased(), held.takeUnreleased())
        #expect(taken == [Self.lease("r", 3), Self.lease("p", 7), Self.lease("q", 7)] && takenAgain.isEmpty)
    }

    @Test func `each stage is renewed by one call, in order`() {
        func renewed(_ participant: String, _ generation: UInt64) -> ClusterCall.RenewedLease {
            ClusterCall.RenewedLease(
                participantID: participant, generation: generation, set: participant, credential: "c", session: Self.session)
        }
        let held = Self.holding(Self.lease("q", 2), Self.lease("p", 1), Self.lease("p", 3, stage: "another"))
        #expect(
            held.renewals == [
                .renew(stage: "another", [renewed("p", 3)]), .renew(stage: "one", [renewed("p", 1), renewed("q", 2)]),
            ])
    }

    @Test func `renewals say which session the history knows, as long as its stage is held`() {
        func known(_ held: HeldLeases) -> [Bool] {
            held.renewals.flatMap { call -> [Bool] in
                guard case .renew(_, let leases) = call else { return [] }
                return leases.map(\.isRecorded)
            }
        }
        let (lease, other) = (Self.lease("p", 5), SharedSession(id: "st-2", start: 8))
        var held = Self.holding(lease)
        held.keep(Self.lease("q", 6), set: "q", credential: "c", in: other)
        let before = known(held)
        held.noteRecorded("st-1", ofStage: "one")
        #expect(before == [false, false] && known(held) == [true, false])
        for lease in [lease, Self.lease("q", 6)] { _ = held.release(lease) }
        held.noteRecorded("st-1", ofStage: "one")
        held.keep(Self.lease("p", 7), set: "p", credential: "c", in: Self.session)
        #expect(known(held) == [false], "who comes next tells it anew")
    }

    @Test func `pauses between renewals count as long as the stage is held`() {
        let lease = Self.lease("p", 5)
        var held = Self.holding(lease)
        let pauses = [1, 4].map { held.renewed(stage: "one", at: Self.moment($0)) }
        #expect(pauses == [nil, .seconds(3)])
        held.lose(lease.key, to: 6)
        held.keep(Self.lease("p", 7), set: "p", credential: "c", in: Self.session)
        let pause = held.renewed(stage: "one", at: Self.moment(60))
        #expect(pause == nil)
    }

    @Test func `an answer that finds nothing held on its stage any more is not remembered`() {
        let lease = Self.lease("p", 5)
        var held = Self.holding(lease)
        _ = held.release(lease)
        let late = held.renewed(stage: "one", at: Self.moment(1))
        held.keep(Self.lease("p", 7), set: "p", credential: "c", in: Self.session)
        let first = held.renewed(stage: "one", at: Self.moment(60))
        #expect(late == nil && first == nil)
    }

    @Test func `a generation that no server has given is above all that were read`() {
        var held = Self.holding(Self.lease("p", 5))
        held.lose(Self.lease("p", 5).key, to: 12)
        let generations = [5, 100, 100].map { held.makeGeneration(notBelow: $0) }
        #expect(generations == [13, 100, 101])
    }
}
