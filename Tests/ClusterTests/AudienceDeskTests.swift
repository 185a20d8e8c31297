import Admission
import Testing
import Wire

@testable import Cluster

@Suite("A node's audiences")
struct AudienceDeskTests {
    static let session = SharedSession(id: "st-1", start: 1)
    static let lease = LeaseIdentity(.audience(ofStage: "one", node: "a"), generation: 5)

    static func watching(_ viewer: String) -> Watching {
        Watching(SubscribeGrant(participantID: viewer, stageARN: "arn/one", stageID: "one"), watches: "p")
    }

    private var desk = AudienceDesk()

    @Test mutating func `the first viewer claims, those that come meanwhile wait, and all are told at once`() {
        #expect(desk.started(Self.watching("v")) == [.claim(stageID: "one")])
        #expect(desk.started(Self.watching("w")) == [])
        #expect(
            desk.granted(Self.lease, Self.session)
                == [.start(Self.watching("v"), Self.session), .start(Self.watching("w"), Self.session)])
        #expect(desk.started(Self.watching("x")) == [.start(Self.watching("x"), Self.session)])
    }

    @Test mutating func `the last one's leaving gives the lease back`() {
        _ = desk.started(Self.watching("v"))
        _ = desk.granted(Self.lease, Self.session)
        #expect(desk.stopped(Self.watching("v")) == [.stop(Self.watching("v")), .release(Self.lease)])
        #expect(desk.stopped(Self.watching("v")) == [], "nobody is there")
    }

    @Test mutating func `who has left before the lease came leaves no trace`() {
        _ = desk.started(Self.watching("v"))
        #expect(desk.stopped(Self.watching("v")) == [])
        #expect(desk.granted(Self.lease, Self.session) == [.release(Self.lease)])
    }

    @Test mutating func `a claim that fails is made again while somebody watches`() {
        _ = desk.started(Self.watching("v"))
        desk.refused(stageID: "one", .zero)
        #expect(desk.deadline == MonotonicTime.zero + AudienceDesk.pause)
        #expect(desk.started(Self.watching("w")) == [])
        #expect(desk.timePassed(.zero + AudienceDesk.pause) == [.claim(stageID: "one")])
        desk.refused(stageID: "one", .zero)
        for viewer in ["v", "w"] { _ = desk.stopped(Self.watching(viewer)) }
        #expect(desk.deadline == nil && desk.timePassed(.zero + .seconds(60)) == [])
    }

    @Test mutating func `in another session all who watch begin anew`() {
        _ = desk.started(Self.watching("v"))
        _ = desk.granted(Self.lease, Self.session)
        desk.lost(stageID: "one", .zero)
        #expect(desk.timePassed(.zero + AudienceDesk.pause) == [.claim(stageID: "one")])
        let next = SharedSession(id: "st-2", start: 2)
        #expect(desk.granted(Self.lease, next) == [.move(stageARN: "arn/one", next)])
        #expect(desk.revived(stageID: "one") == [.move(stageARN: "arn/one", next)])
    }

    /// Whatever happens in whatever order: who watches is told once, and nothing is left when all have gone.
    @Test(arguments: 0..<50 as Range<UInt64>)
    mutating func `a walk ends with nothing held`(_ seed: UInt64) {
        var random = SplitMix(seed: seed)
        var (present, told, isHeld, isClaimed) = ([Watching](), [Watching](), false, false)
        func follow(_ actions: [AudienceDesk.Action]) {
            for action in actions {
                switch action {
                case .claim: isClaimed = true
                case .release: isHeld = false
                case .start(let watching, _): told.append(watching)
                case .stop(let watching): told.remove(at: told.firstIndex(of: watching) ?? told.endIndex)
                case .move: break
                }
            }
        }
        var now = MonotonicTime.zero
        for step in 0..<400 {
            now = now + .seconds(1)
            follow(desk.timePassed(now))
            switch Int.random(in: 0..<6, using: &random) {
            case 0 where step < 300, 1 where step < 300:
                let watching = Self.watching("v\(Int.random(in: 0..<4, using: &random))")
                present.append(watching)
                follow(desk.started(watching))
            case 2, 3:
                guard let watching = present.randomElement(using: &random) else { continue }
                present.remove(at: present.firstIndex(of: watching) ?? 0)
                follow(desk.stopped(watching))
            case 4 where isClaimed:
                (isClaimed, isHeld) = (false, true)
                follow(desk.granted(Self.lease, Self.session))
            case 5 where isClaimed:
                isClaimed = false
                desk.refused(stageID: "one", now)
            default: break
            }
            if isHeld { #expect(told.count == present.count) }
        }
        for watching in present { follow(desk.stopped(watching)) }
        if isClaimed { follow(desk.granted(Self.lease, Self.session)) }
        follow(desk.timePassed(now + .seconds(10)))
        #expect(told.isEmpty && !isHeld && desk.deadline == nil)
    }

    private struct SplitMix: RandomNumberGenerator {
        private var state: UInt64

        init(seed: UInt64) { state = seed }

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }
}
