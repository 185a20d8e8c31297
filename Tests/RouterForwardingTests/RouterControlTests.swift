import Admission
import EventLoop
import StageHub
import TestSupport
import Testing
import Wire

@testable import RouterForwarding

/// A router that answers as a test says.
private final class FakeDriver: RouterDriver {
    let name: String
    let hasHealth = true
    var isAlive = true
    /// Nil answers with a plan.
    var failure: AnnounceFailure?
    /// How often it was asked, and how many checks it failed.
    var (asked, failedChecks) = (0, 0)
    var announced: [Announcement] = []
    var updated: [Announcement] = []
    var withdrawn: [(id: String, generation: UInt64, reason: WithdrawalReason)] = []
    var lost: [ParticipantKey] = []
    var leases = 0

    init(_ name: String) { self.name = name }

    func announce(_ announcement: Announcement, reply: @escaping (Result<LegPlan, AnnounceFailure>) -> Void) {
        asked += 1
        guard isAlive else { return reply(.failure(.noAnswer)) }
        if let failure { return reply(.failure(failure)) }
        announced.append(announcement)
        reply(.success(LegPlan(cname: announcement.participantID, tracks: [])))
    }
    func update(_ announcement: Announcement) { updated.append(announcement) }
    func withdraw(_ announcement: Announcement, reason: WithdrawalReason) {
        withdrawn.append((announcement.participantID, announcement.generation, reason))
    }
    func checkHealth(reply: @escaping (Bool) -> Void) {
        if !isAlive { failedChecks += 1 }
        reply(isAlive)
    }
    func renewLease(_ participants: [Announcement], reply: @escaping ([ParticipantKey]) -> Void) {
        leases += 1
        defer { lost = [] }
        reply(lost)
    }
}

private final class ControlBench {
    let loop: EventLoop
    let routers = ["a", "b", "c"].map(FakeDriver.init)
    let placements = LocalPlacements()
    let control: RouterControl
    var commands: [LegCommand] = []
    var stories: [RouterControl.Story] = []
    var availability: [Bool] = []
    private var worker: Mailbox<LegCommand>?
    private var serial: UInt64 = 0

    init(replicas: Int = 1) throws {
        loop = try EventLoop()
        control = try RouterControl(loop: loop, drivers: routers, placements: placements, replicas: replicas)
        worker = try Mailbox(loop: loop) { [unowned self] in commands.append($0) }
        control.onStory = { [unowned self] in stories.append($0) }
        control.onAvailabilityChanged = { [unowned self] in availability.append($0) }
    }

    @discardableResult
    func publish(_ participant: String, stage: String, generation: UInt64 = 1) -> (ForwardingID, Announcement) {
        serial += 1
        let id = ForwardingID(participant: ParticipantKey(participant, onStage: stage), serial: serial)
        let announcement = Announcement(
            grant: PublishGrant(participantID: participant, stageARN: "arn:" + stage, stageID: stage, credentialHash: ""),
            sessionID: "st", generation: generation, ingestProtocol: .whip, acceptsKeyframeRequests: true,
            formats: [.video: .h264Offered(profileLevelID: "42e01f")], source: SocketAddress(.loopback, port: 9))
        control.sender.send(.started(id, announcement, worker: worker!.sender))
        return (id, announcement)
    }

    func wait(_ limit: Duration = .seconds(60), until isDone: () -> Bool) -> Bool { loop.run(until: isDone, within: limit) }

    var opened: Int { commands.filter { if case .open = $0 { true } else { false } }.count }
    var closed: Int { commands.filter { if case .close = $0 { true } else { false } }.count }

    /// Where participants are announced.
    func home(of participant: String) -> FakeDriver? {
        routers.first { $0.announced.contains { $0.participantID == participant } }
    }
}

@Suite("Placement and failover", .timeLimit(.minutes(10)))
struct RouterControlTests {
    @Test func `a stage's participants go to one router, stages to all`() throws {
        let bench = try ControlBench()
        for stage in 0..<30 { for one in 0..<2 { bench.publish("p\(stage)-\(one)", stage: "s\(stage)") } }
        #expect(bench.wait { bench.opened == 60 })
        for stage in 0..<30 { #expect(bench.home(of: "p\(stage)-0") === bench.home(of: "p\(stage)-1")) }
        #expect(bench.routers.allSatisfy { !$0.announced.isEmpty })
    }

    @Test func `equal participant ids on two stages are two participants`() throws {
        let bench = try ControlBench()
        let (one, told) = bench.publish("p", stage: "s")
        #expect(bench.wait { bench.opened == 1 })
        bench.publish("p", stage: "other")
        #expect(bench.wait { bench.opened == 2 })
        // The first one is still known: what it changes, and its end, reach its router.
        var announcement = told
        announcement.muted = [.video]
        bench.control.sender.send(.changed(one, announcement))
        bench.control.sender.send(.ended(one, .unpublished))
        #expect(bench.wait { bench.routers.contains { !$0.withdrawn.isEmpty } })
        #expect(bench.routers.flatMap(\.updated).map(\.grant.stageID) == ["s"])
        #expect(
            bench.routers.flatMap(\.withdrawn).map(\.id) == ["p"]
                && bench.control.status.map(\.participantCount).reduce(0, +) == 1)
    }

    @Test func `a dead router's stages move at its third failed check, with a higher generation, and stay`() throws {
        let bench = try ControlBench()
        for one in 0..<4 { bench.publish("p\(one)", stage: "s") }
        #expect(bench.wait { bench.opened == 4 })
        let home = try #require(bench.home(of: "p0"))
        let before = home.announced.map(\.generation)
        home.isAlive = false
        #expect(bench.wait { bench.opened == 8 && bench.closed == 4 })
        // A turn in which the workers hear of it may be late enough for the next check.
        #expect([3, 4].contains(home.failedChecks))
        #expect(bench.stories.contains(.died(router: home.name)))
        let next = try #require(bench.routers.first { $0 !== home && !$0.announced.isEmpty })
        #expect(next.announced.map(\.generation).min()! > before.max()!)
        home.isAlive = true
        #expect(bench.wait { bench.stories.contains(.returned(router: home.name)) })
        bench.publish("late", stage: "s")
        #expect(bench.wait { bench.opened == 9 })
        #expect(next.announced.last?.participantID == "late")
    }

    @Test func `a stage that another gateway moved is followed, and its former router told`() throws {
        let bench = try ControlBench()
        for one in 0..<2 { bench.publish("p\(one)", stage: "s") }
        #expect(bench.wait { bench.opened == 2 })
        let home = try #require(bench.home(of: "p0"))
        let next = try #require(bench.routers.first { $0 !== home })
        let key = PlacementKey(stageID: "s", replica: 0)
        bench.placements.placement(of: key) { record in
            let generation = (record?.generation ?? 0) + 1
            bench.placements.replace(key, record, with: PlacementRecord(router: next.name, generation: generation)) { _ in }
        }
        #expect(bench.wait { bench.opened == 4 && bench.closed == 2 })
        #expect(Set(next.announced.map(\.participantID)) == ["p0", "p1"])
        #expect(next.announced.map(\.generation).min()! > home.announced.map(\.generation).max()!)
        #expect(
            home.withdrawn.map(\.reason) == [.moved, .moved]
                && home.withdrawn.allSatisfy { $0.generation < next.announced[0].generation })
    }

    @Test func `RTCP keeps a router alive whose health checks fail`() throws {
        let bench = try ControlBench()
        let (id, _) = bench.publish("p", stage: "s")
        #expect(bench.wait { bench.opened == 1 })
        let home = try #require(bench.home(of: "p"))
        home.isAlive = false
        let ticking = bench.loop.schedule(after: .zero, repeating: .milliseconds(500)) {
            bench.control.sender.send(.feedback(id, replica: 0, at: bench.loop.now))
        }
        #expect(bench.wait { home.failedChecks >= 4 } && bench.closed == 0, "the third would have been its death")
        ticking.cancel()
        #expect(bench.wait { bench.closed == 1 })
    }

    @Test func `a router that does not answer is left at once by a stage with nobody live there`() throws {
        let bench = try ControlBench()
        for router in bench.routers { router.failure = .noAnswer }
        let best = Rendezvous.ranking(of: ["a", "b", "c"], for: "s")
        bench.routers.first { $0.name == best[1] }?.failure = nil
        bench.publish("p", stage: "s")
        #expect(bench.wait { bench.opened == 1 })
        #expect(bench.home(of: "p")?.name == best[1])
        #expect(bench.routers.first { $0.name == best[0] }?.asked == 1)
    }

    @Test func `a router that holds a higher generation gets one above it`() throws {
        let bench = try ControlBench()
        for router in bench.routers { router.failure = .staleGeneration }
        bench.publish("p", stage: "s")
        #expect(bench.wait { !bench.stories.isEmpty })
        for router in bench.routers { router.failure = nil }
        #expect(bench.wait { bench.opened == 1 })
        var placed: PlacementRecord?
        bench.placements.placement(of: PlacementKey(stageID: "s", replica: 0)) { placed = $0 }
        let first = try #require(placed).generation
        #expect(try #require(bench.home(of: "p")).announced[0].generation >= first + 1000)
    }

    @Test func `what a router lost is announced again, one generation higher`() throws {
        let bench = try ControlBench()
        bench.publish("p", stage: "s")
        #expect(bench.wait { bench.opened == 1 })
        let home = try #require(bench.home(of: "p"))
        home.lost = [ParticipantKey("p", onStage: "s"), ParticipantKey("unknown", onStage: "s")]
        #expect(bench.wait { bench.opened == 2 })
        #expect(home.announced[1].generation == home.announced[0].generation + 1)
    }

    @Test func `ends are told, changes too, and a takeover keeps the announce`() throws {
        let bench = try ControlBench()
        var (id, announcement) = bench.publish("p", stage: "s")
        #expect(bench.wait { bench.opened == 1 })
        let home = try #require(bench.home(of: "p"))
        announcement.muted = [.video]
        bench.control.sender.send(.changed(id, announcement))
        #expect(bench.wait { home.updated.first?.muted == [.video] })
        bench.control.sender.send(.ended(id, .takenOver))
        (id, _) = bench.publish("p", stage: "s", generation: 2)
        #expect(bench.wait { bench.opened == 2 })
        #expect(home.withdrawn.isEmpty)
        #expect(home.announced[1].generation > home.announced[0].generation)
        bench.control.sender.send(.ended(id, .unpublished))
        #expect(bench.wait { home.withdrawn.first?.reason == .unpublished })
        #expect(home.withdrawn.first?.generation == home.announced[1].generation)
    }

    @Test func `replicas go to different routers`() throws {
        let bench = try ControlBench(replicas: 2)
        bench.publish("p", stage: "s")
        #expect(bench.wait { bench.opened == 2 })
        #expect(bench.routers.filter { $0.announced.count == 1 }.count == 2)
    }

    @Test func `without a router it is tried every second`() throws {
        let bench = try ControlBench()
        for router in bench.routers { router.isAlive = false }
        #expect(bench.wait { bench.stories.filter { if case .died = $0 { true } else { false } }.count == 3 })
        #expect(bench.control.status.filter(\.isEligible).isEmpty)
        bench.publish("p", stage: "s")
        #expect(bench.wait { bench.stories.contains(.noRouter(stageID: "s")) })
        bench.routers[1].isAlive = true
        #expect(bench.wait { bench.opened == 1 })
    }

    @Test func `new publishes have nowhere to go from the first check where no router has ever answered`() throws {
        let bench = try ControlBench()
        for router in bench.routers { router.isAlive = false }
        #expect(bench.wait { bench.availability == [false] })
        #expect(bench.routers.map(\.failedChecks) == [1, 1, 1])
        bench.routers[2].isAlive = true
        #expect(bench.wait { bench.availability == [false, true] })
    }

    @Test func `routers that have answered are hoped for until they are dead`() throws {
        let bench = try ControlBench()
        #expect(!bench.wait(.milliseconds(500)) { !bench.availability.isEmpty })
        for router in bench.routers { router.isAlive = false }
        #expect(bench.wait { bench.availability == [false] })
        #expect(bench.stories.filter { if case .died = $0 { true } else { false } }.count == 3)
    }

    @Test func `a later track is a new announce of a higher generation at the same router`() throws {
        let bench = try ControlBench()
        var (id, announcement) = bench.publish("p", stage: "s")
        #expect(bench.wait { bench.opened == 1 })
        announcement.formats[.audio] = .opus(isStereo: true)
        bench.control.sender.send(.changed(id, announcement))
        #expect(bench.wait { bench.opened == 2 })
        let home = try #require(bench.home(of: "p"))
        #expect(home.announced.map(\.kinds) == [[.video], [.video, .audio]])
        #expect(home.announced[1].generation > home.announced[0].generation)
        #expect(home.updated.isEmpty && home.withdrawn.isEmpty)
    }

    @Test func `so is a later layer; what becomes of layers is told`() throws {
        let bench = try ControlBench()
        var (id, announcement) = bench.publish("p", stage: "s")
        #expect(bench.wait { bench.opened == 1 })
        let home = try #require(bench.home(of: "p"))
        announcement.layers = [
            AnnouncedLayer(TrackID(.video, layer: 0), rid: .hi), AnnouncedLayer(TrackID(.video, layer: 1), rid: .low),
        ]
        bench.control.sender.send(.changed(id, announcement))
        #expect(bench.wait { bench.opened == 2 })
        announcement.layers[1].isActive = true
        bench.control.sender.send(.changed(id, announcement))
        #expect(bench.wait { home.updated.count == 1 })
        #expect(home.announced.map(\.layers.count) == [0, 2] && home.updated[0].layers[1].isActive)
        #expect(bench.opened == 2)
    }

    @Test func `the loss of a router moves only its own stages`() {
        for stage in 0..<200 {
            let all = Rendezvous.ranking(of: ["a", "b", "c", "d"], for: "st-\(stage)")
            #expect(Rendezvous.ranking(of: ["d", "b", "a"], for: "st-\(stage)") == all.filter { $0 != "c" })
        }
        let firsts = (0..<1000).map { Rendezvous.ranking(of: ["a", "b", "c", "d"], for: "st-\($0)")[0] }
        for name in ["a", "b", "c", "d"] { #expect(200...300 ~= firsts.filter { $0 == name }.count) }
    }
}
