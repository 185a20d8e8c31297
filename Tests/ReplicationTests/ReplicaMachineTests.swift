import Admission
import Refusals
import Testing
import Wire

@testable import Replication

@Suite("One replica's way from a claim to its end")
struct ReplicaMachineTests {
    typealias Action = ReplicaMachine.Action

    private static func lease(_ generation: UInt64 = 1) -> PublishLease {
        PublishLease(participantID: "p", stageID: "B", stageSessionID: "st-b", generation: generation)
    }

    private final class Incumbent: LeaseHolder {
        var lastProgress: MonotonicTime { .zero }
        var hasEnded: Bool { false }
        func end(_ reason: LeaseEnd) {}
    }

    private static func live() -> ReplicaMachine {
        var machine = ReplicaMachine()
        _ = machine.start()
        _ = machine.claimed(.granted(lease()), isOurs: false)
        return machine
    }

    @Test func `a granted lease begins, and is released when the source ends`() {
        var machine = ReplicaMachine()
        #expect(machine.start() == [.claim(takeOver: false)])
        #expect(machine.claimed(.granted(Self.lease()), isOurs: false) == [.begin(Self.lease())])
        #expect(machine.sourceEnded(.connectionLost) == [.end(.connectionLost), .release(Self.lease())])
        #expect(machine.isOver)
    }

    @Test func `a lease that comes too late goes back`() {
        var machine = ReplicaMachine()
        _ = machine.start()
        #expect(machine.sourceEnded(.closed) == [])
        #expect(machine.claimed(.granted(Self.lease()), isOurs: false) == [.release(Self.lease())])
    }

    @Test func `a lease that was taken away before it was heard of goes back`() {
        var machine = ReplicaMachine()
        _ = machine.start()
        #expect(machine.leaseEnded(.disconnected(Refusal(.stageDeleted))) == [])
        let actions = machine.claimed(.granted(Self.lease()), isOurs: false)
        #expect(actions == [.begin(Self.lease()), .end(.closed), .release(Self.lease()), .stop])
    }

    @Test func `only a replica of its own replication is taken over`() {
        var machine = ReplicaMachine()
        _ = machine.start()
        #expect(machine.claimed(.held(by: Incumbent()), isOurs: true) == [.claim(takeOver: true)])
        #expect(machine.claimed(.held(by: Incumbent()), isOurs: true) == [.refuse(Refusal(.streamKeyInUse))])
        var stranger = ReplicaMachine()
        _ = stranger.start()
        #expect(stranger.claimed(.held(by: Incumbent()), isOurs: false) == [.refuse(Refusal(.streamKeyInUse))])
    }

    @Test func `a source that is taken over leaves the lease for its successor, but not for ever`() {
        var machine = Self.live()
        #expect(machine.sourceEnded(.takenOver) == [.end(.connectionLost), .linger])
        #expect(!machine.isOver)
        #expect(machine.lingered() == [.release(Self.lease())])
        var taken = Self.live()
        _ = taken.sourceEnded(.takenOver)
        #expect(taken.leaseEnded(.takenOver) == [.release(Self.lease())])
        #expect(taken.lingered() == [])
    }

    @Test func `who is disconnected on the destination stops the replication`() {
        var machine = Self.live()
        let end = LeaseEnd.disconnected(Refusal(.participantDisconnected))
        #expect(machine.leaseEnded(end) == [.end(.closed), .release(Self.lease()), .stop])
        #expect(machine.leaseEnded(end) == [])
    }

    @Test(arguments: [RefusalCode.stageFull, .overloaded, .platformAway, .draining, .streamKeyInUse])
    func `one that was active asks again, ever more seldom, while the destination cannot take it`(_ code: RefusalCode) {
        var machine = ReplicaMachine(isReturning: true)
        _ = machine.start()
        for seconds in [1, 2, 4, 8, 16, 30, 30] {
            let refused = machine.claimed(.refused(Refusal(code)), isOurs: false)
            #expect(refused == [.wait(.seconds(seconds), Refusal(code))])
            #expect(machine.leaseEnded(.takenOver) == [])
            #expect(machine.waited() == [.claim(takeOver: false)])
        }
        #expect(machine.claimed(.granted(Self.lease()), isOurs: false) == [.begin(Self.lease())])
    }

    @Test func `a wait ends with its source, and by what does not pass`() {
        var left = ReplicaMachine(isReturning: true)
        _ = left.start()
        _ = left.claimed(.refused(Refusal(.stageFull)), isOurs: false)
        #expect(left.sourceEnded(.connectionLost) == [])
        #expect(left.isOver && left.waited() == [])
        var deleted = ReplicaMachine(isReturning: true)
        _ = deleted.start()
        #expect(deleted.claimed(.refused(Refusal(.stageDeleted)), isOurs: false) == [.refuse(Refusal(.stageDeleted))])
    }

    @Test func `who asked for it hears of a first refusal at once`() {
        var machine = ReplicaMachine()
        _ = machine.start()
        #expect(machine.claimed(.refused(Refusal(.stageFull)), isOurs: false) == [.refuse(Refusal(.stageFull))])
    }

    /// Whatever comes in whatever order: what begins ends, what is granted is released, once each.
    @Test(arguments: 0..<200) func `no order of inputs leaves a lease`(_ seed: UInt64) {
        var random = SplitMix(seed)
        var machine = ReplicaMachine(isReturning: random.next(2) == 0)
        var (granted, released, begun, ended, questions, generation) = (0, 0, 0, 0, 0, UInt64(0))
        func carryOut(_ actions: [Action]) {
            for action in actions {
                switch action {
                case .claim: questions += 1
                case .begin: begun += 1
                case .end: ended += 1
                case .release: released += 1
                case .linger, .refuse, .wait, .stop, .suspect: break
                }
            }
        }
        func answer() {
            questions -= 1
            switch random.next(4) {
            case 0: carryOut(machine.claimed(.held(by: Incumbent()), isOurs: random.next(2) == 0))
            case 1: carryOut(machine.claimed(.refused(Refusal(.stageFull)), isOurs: false))
            default:
                (granted, generation) = (granted + 1, generation + 1)
                carryOut(machine.claimed(.granted(Self.lease(generation)), isOurs: false))
            }
        }
        for _ in 0..<12 {
            switch random.next(8) {
            case 0: carryOut(machine.start())
            case 1, 2: if questions > 0 { answer() }
            case 3: carryOut(machine.sourceEnded(random.next(2) == 0 ? .takenOver : .connectionLost))
            case 4: carryOut(machine.leaseEnded(random.next(2) == 0 ? .takenOver : .disconnected(Refusal(.stageDeleted))))
            case 5: carryOut(machine.lingered())
            case 6: carryOut(machine.waited())
            default: if random.next(3) == 0 { carryOut(machine.unwanted(.closed)) }
            }
        }
        carryOut(machine.unwanted(.shutdown))
        while questions > 0 { answer() }
        carryOut(machine.unwanted(.shutdown))
        #expect(granted == released)
        #expect(begun == ended)
    }
}

/// The same numbers for the same seed.
struct SplitMix {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }

    mutating func next(_ bound: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((bits ^ (bits >> 31)) % UInt64(bound))
    }
}
