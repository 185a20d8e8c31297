import Admission
import Testing
import Wire

@testable import RouterForwarding

@Suite("The placement machine")
struct PlacementMachineTests {
    /// What happens, and what is to be done then.
    struct Step {
        var input: PlacementScript.Input
        var lines: [String]

        init(_ input: PlacementScript.Input, _ lines: String...) { (self.input, self.lines) = (input, lines) }
    }

    struct Case: CustomTestStringConvertible {
        var testDescription: String
        var replicas = 1
        var steps: [Step]
    }

    private static func placed(_ router: String, _ generation: UInt64) -> PlacementRecord {
        PlacementRecord(router: router, generation: generation)
    }

    /// Participant `p` of stage `s` live at router a as generation 5,000.
    private static let live: [Step] = [
        Step(.start(), "look p/0"),
        Step(.record(nil), "move p/0 nil>a5000"),
        Step(.moved(.current(placed("a", 5000))), "announce p/0 a 5000"),
        Step(.plan(5000), "open p/0", "announced p a"),
    ]

    /// Participant `p` announced there, and not answered yet.
    private static let asked = Array(live.dropLast())

    /// Participant `q` live there as well.
    private static let second: [Step] = [
        Step(.start("q"), "look q/0"),
        Step(.record(placed("a", 5001), of: "q/0"), "announce q/0 a 5001"),
        Step(.plan(5001), "open q/0", "announced q a"),
    ]

    /// Three failed checks, a second apart.
    private static func death(of router: String, _ lines: [String]) -> [Step] {
        var last = Step(.check(false, router))
        last.lines = lines
        return [Step(.check(false, router)), Step(.check(false, router)), last]
    }

    /// Three good checks.
    private static func revival(of router: String, _ lines: [String]) -> [Step] {
        var last = Step(.check(true, router))
        last.lines = lines
        return [Step(.check(true, router)), Step(.check(true, router)), last]
    }

    /// Participant `p` was live at router a when that was found dead.
    private static let dead = live + death(of: "a", ["died a", "close p/0", "look p/0"])

    /// Other gateways saw that router still.
    private static let undecided =
        dead + [Step(.record(placed("a", 5000)), "move p/0 a5000>b5001"), Step(.moved(.stillSeenByOthers))]

    /// It was being announced anew there.
    private static let announcedAnew =
        live + [Step(.addAudio(), "look p/0"), Step(.record(placed("a", 5000)), "announce p/0 a 5001")]

    private static let placing: [Case] = [
        Case(testDescription: "a stage without a record goes to its best router", steps: live),
        Case(
            testDescription: "the record of another gateway that came first holds",
            steps: [
                live[0], live[1],
                Step(.moved(.current(placed("b", 4000))), "announce p/0 b 4000"),
            ]),
        Case(
            testDescription: "a stage with a record goes there, above its lease's generation",
            steps: [
                Step(.start(lease: 7000), "look p/0"),
                Step(.record(placed("c", 6000)), "announce p/0 c 7000"),
            ]),
        Case(
            testDescription: "a move that is not to be is tried again after a second",
            steps: [
                live[0], live[1],
                Step(.moved(.stillSeenByOthers)), Step(.pass(.milliseconds(999))), Step(.pass(.milliseconds(1)), "look p/0"),
                Step(.record(nil), "move p/0 nil>a6000"),
                Step(.moved(.unavailable)), Step(.pass(.seconds(1)), "look p/0"),
            ]),
        Case(
            testDescription: "replicas go to different routers, though the first is only about to have its own", replicas: 2,
            steps: [
                Step(.start(), "look p/0", "look p/1"),
                Step(.record(nil), "move p/0 nil>a5000"),
                Step(.record(nil, of: "p/1"), "move p/1 nil>b5000"),
            ]),
        Case(
            testDescription: "an answer that came too late places nothing",
            steps: [
                live[0], Step(.end()), Step(.record(nil)),
                Step(.start(), "look p/0"), Step(.record(nil), "move p/0 nil>a5000"), Step(.end()),
                Step(.moved(.current(placed("a", 5000)))),
            ]),
    ]

    private static let failing: [Case] = [
        Case(
            testDescription: "a router that does not answer is left at once by a stage with nobody live there",
            steps: asked + [
                Step(.failure(.noAnswer, 5000), "failed p a", "look p/0"),
                Step(.record(placed("a", 5000)), "move p/0 a5000>b5001"),
            ]),
        Case(
            testDescription: "it is asked again, after 1, 2, 4, 8 and 8 s, where somebody is live",
            steps: live + [Step(.start("q"), "look q/0"), Step(.record(placed("a", 5000), of: "q/0"), "announce q/0 a 5000")]
                + zip(0..., [1, 2, 4, 8, 8]).flatMap { attempt, pause in
                    let generation = 5000 + UInt64(attempt)
                    return [
                        Step(.failure(.refused(status: 500), generation), "failed q a"),
                        Step(.pass(.milliseconds(pause * 1000 - 1)), following(attempt)),
                        Step(.pass(.milliseconds(1)), "look q/0"),
                        Step(.record(placed("a", 5000), of: "q/0"), "announce q/0 a \(generation + 1)"),
                    ]
                }),
        Case(
            testDescription: "a router that holds a higher generation gets one a thousand above, or of the clock",
            steps: asked + [
                Step(.failure(.staleGeneration, 5000), "failed p a"), Step(.pass(.seconds(1)), "look p/0"),
                Step(.record(placed("a", 5000)), "announce p/0 a 6001"),
                Step(.failure(.staleGeneration, 6001), "failed p a"), Step(.pass(.seconds(2)), "look p/0"),
                Step(.record(placed("a", 50_000)), "announce p/0 a 50000"),
                Step(.failure(.staleGeneration, 50_000), "failed p a"), Step(.pass(.seconds(4)), "look p/0"),
                Step(.record(placed("a", 50_000)), "announce p/0 a 51001"),
            ]),
        Case(
            testDescription: "nor does it get one until it is known that no other gateway has the participant",
            steps: asked + [
                Step(.failure(.staleGeneration, 5000), "failed p a"), Step(.pass(.seconds(1)), "look p/0"),
                Step(.record(placed("a", 5000), isOurs: false)), Step(.pass(.seconds(1)), "look p/0"),
                Step(.record(placed("a", 5000), isOurs: false)), Step(.pass(.seconds(1)), "look p/0"),
                Step(.record(placed("a", 5000)), "announce p/0 a 8001"),
            ]),
        Case(
            testDescription: "without any router that is told once, and tried again every second",
            steps: [
                Step(.check(false, "a")), Step(.check(false, "b")), Step(.check(false, "c"), "unavailable"),
                Step(.start(), "look p/0"), Step(.record(nil), "no router s"), Step(.pass(.seconds(1)), "look p/0"),
                Step(.record(nil)), Step(.pass(.seconds(1)), "look p/0"),
                Step(.check(true, "b"), "available"), Step(.record(nil), "move p/0 nil>b7000"),
            ]),
    ]

    /// Where live ones belong is asked every 5 s, which falls into the pauses from the third on.
    private static func following(_ attempt: Int) -> String { attempt >= 2 ? "look p/0" : "" }

    private static let changing: [Case] = [
        Case(
            testDescription: "mute is told to the router; a further track is a new announce",
            steps: live + [
                Step(.mute(), "update p a 5000"),
                Step(.addAudio(), "look p/0"), Step(.record(placed("a", 5000)), "announce p/0 a 5001"),
                Step(.plan(5001), "open p/0", "announced p a"),
            ]),
        Case(
            testDescription: "what changes before the router has answered is told after it",
            steps: asked + [
                Step(.mute()), Step(.plan(5000), "open p/0", "announced p a", "update p a 5000"),
            ]),
        Case(
            testDescription: "a track that comes before the router has answered is announced after it",
            steps: asked + [
                Step(.addAudio()), Step(.plan(5000), "open p/0", "announced p a", "look p/0"),
                Step(.record(placed("a", 5000)), "announce p/0 a 5001"),
            ]),
        Case(
            testDescription: "a further layer is a new announce to a router that takes layers, or may",
            steps: live + [
                Step(.addLayer(), "look p/0"), Step(.record(placed("a", 5000)), "announce p/0 a 5001"),
                Step(.plan(5001), "open p/0", "announced p a"),
                Step(.addLayer(), "look p/0"), Step(.record(placed("a", 5000)), "announce p/0 a 5002"),
            ]),
        Case(
            testDescription: "a router that takes one of them is told of it at most, a further track is announced",
            steps: asked + [
                Step(.plan(5000, isLayerless: true), "open p/0", "announced p a"), Step(.addLayer(), "update p a 5000"),
                Step(.addLayer(), "update p a 5000"),
                Step(.addAudio(), "look p/0"), Step(.record(placed("a", 5000)), "announce p/0 a 5001"),
            ]),
        Case(
            testDescription: "a layer that comes before that router has answered is told after it",
            steps: asked + [
                Step(.addLayer()), Step(.plan(5000, isLayerless: true), "open p/0", "announced p a", "update p a 5000"),
            ]),
        Case(
            testDescription: "what a router lost is announced again, one generation higher",
            steps: live + [
                Step(.lost(["q", "p"], "a"), "lost p a", "look p/0"), Step(.lost(["p"], "a")),
                Step(.record(placed("a", 5000)), "announce p/0 a 5001"),
            ]),
        Case(
            testDescription: "a stage that another gateway moved is followed within 5 s",
            steps: live + [
                Step(.pass(.seconds(5)), "look p/0"),
                Step(.record(placed("b", 9000)), "close p/0", "withdraw p a 5000 moved", "announce p/0 b 9000"),
                Step(.plan(9000), "open p/0", "announced p b"),
                Step(.pass(.seconds(5)), "look p/0"), Step(.record(placed("b", 9000))),
            ]),
    ]

    private static let ending: [Case] = [
        Case(
            testDescription: "an end is told once", steps: live + [Step(.end(), "withdraw p a 5000 unpublished"), Step(.end())]),
        Case(
            testDescription: "an end before the router has answered is told after it",
            steps: asked + [Step(.end()), Step(.plan(5000), "withdraw p a 5000 unpublished")]),
        Case(
            testDescription: "what was never taken is not withdrawn",
            steps: asked + [Step(.end()), Step(.failure(.noAnswer, 5000))]),
        Case(
            testDescription: "an end while it is announced anew is told once, whatever the answer",
            steps: live + [
                Step(.addAudio(), "look p/0"), Step(.record(placed("a", 5000)), "announce p/0 a 5001"), Step(.end()),
                Step(.failure(.refused(status: 500), 5001), "withdraw p a 5001 unpublished"),
            ]),
        Case(
            testDescription: "an announce that comes too late is the next publication's to end",
            steps: asked + [
                Step(.end()), Step(.start(lease: 5500), "look p/0"),
                Step(.record(placed("a", 5000)), "announce p/0 a 5500"),
                Step(.plan(5000)), Step(.failure(.refused(status: 500), 5500), "failed p a"),
                Step(.end(), "withdraw p a 5500 unpublished"),
            ]),
    ]

    private static let takingOver: [Case] = [
        Case(
            testDescription: "a successor goes on above the generation, and nothing is withdrawn",
            steps: live + [
                Step(.end("p", .takenOver)), Step(.start(lease: 2), "look p/0"),
                Step(.record(placed("a", 5000)), "announce p/0 a 5001"),
                Step(.plan(5001), "open p/0", "announced p a"), Step(.pass(.seconds(11)), "look p/0"),
                Step(.end(), "withdraw p a 5001 unpublished"),
            ]),
        Case(
            testDescription: "a successor that does not come is not waited for beyond 10 s",
            steps: live + [
                Step(.end("p", .takenOver)), Step(.pass(.milliseconds(9_999))),
                Step(.pass(.milliseconds(1)), "withdraw p a 5000 takenOver"),
            ]),
        Case(
            testDescription: "an announce that fails meanwhile is the successor's to try again",
            steps: asked + [
                Step(.end("p", .takenOver)), Step(.failure(.refused(status: 500), 5000), "failed p a"),
                Step(.pass(.seconds(9))), Step(.pass(.seconds(1))), Step(.pass(.seconds(60))),
            ]),
        Case(
            testDescription: "a successor elsewhere ends what stands at the former router",
            steps: live + [
                Step(.start(lease: 2), "look p/0"),
                Step(.record(placed("b", 8000)), "withdraw p a 5000 moved", "announce p/0 b 8000"),
            ]),
        Case(
            testDescription: "the former publication's announce in flight is the successor's",
            steps: asked + [
                Step(.start(lease: 2), "look p/0"), Step(.record(placed("a", 5000)), "announce p/0 a 5001"),
                Step(.plan(5000)), Step(.plan(5001), "open p/0", "announced p a"),
                Step(.end(), "withdraw p a 5001 unpublished"),
            ]),
    ]

    private static let dying: [Case] = [
        Case(
            testDescription: "a dead router's publications move, and nothing is withdrawn there",
            steps: live + second
                + death(of: "a", ["died a", "close p/0", "look p/0", "close q/0", "look q/0"]) + [
                    Step(.record(placed("a", 5000)), "move p/0 a5000>b5001"),
                    Step(.moved(.current(placed("b", 5001))), "announce p/0 b 5001"),
                    Step(.record(placed("b", 5001), of: "q/0"), "announce q/0 b 5002"),
                ]),
        Case(
            testDescription: "what answers after its death is withdrawn",
            steps: asked + death(of: "a", ["died a", "close p/0", "look p/0"]) + [
                Step(.record(placed("a", 5000)), "move p/0 a5000>b5001"),
                Step(.plan(5000), "withdraw p a 5000 moved"),
            ]),
        Case(
            testDescription: "RTCP keeps a router alive whose checks fail, for 3 s",
            steps: live + [Step(.feedback)] + death(of: "a", []) + [
                Step(.pass(.seconds(3))), Step(.check(false, "a"), "died a", "close p/0", "look p/0"),
            ]),
        Case(
            testDescription: "three good checks bring it back, and nothing moves; what it may hold still is ended",
            steps: dead + [
                Step(.record(placed("a", 5000)), "move p/0 a5000>b5001"),
                Step(.moved(.current(placed("b", 5001))), "announce p/0 b 5001"),
            ] + revival(of: "a", ["returned a", "withdraw p a 5000 moved"])),
        Case(
            testDescription: "so is that of publications which have ended meanwhile, and once",
            steps: dead + [
                Step(.end()), Step(.start(lease: 6000), "look p/0"), Step(.record(placed("b", 5001)), "announce p/0 b 6000"),
                Step(.plan(6000), "open p/0", "announced p b"), Step(.end(), "withdraw p b 6000 unpublished"),
            ] + revival(of: "a", ["returned a", "withdraw p a 5000 moved"]) + revival(of: "a", [])),
        Case(
            testDescription: "not that of one which is announced there again before it is back",
            steps: dead + [
                Step(.record(placed("a", 5000)), "move p/0 a5000>b5001"),
                Step(.moved(.current(placed("a", 5002))), "announce p/0 a 5002"),
                Step(.plan(5002), "open p/0", "announced p a"),
            ] + revival(of: "a", ["returned a"]) + [Step(.end(), "withdraw p a 5002 unpublished")]),
        Case(
            testDescription: "nor, before it is announced there again, that of one which could not be moved",
            steps: undecided + revival(of: "a", ["returned a"]) + [
                Step(.pass(.seconds(1)), "look p/0"), Step(.record(placed("a", 5000)), "announce p/0 a 5001"),
                Step(.plan(5001), "open p/0", "announced p a"), Step(.end(), "withdraw p a 5001 unpublished"),
            ]),
        Case(
            testDescription: "where that one goes elsewhere in the end, it is ended then",
            steps: undecided + revival(of: "a", ["returned a"]) + [
                Step(.pass(.seconds(1)), "look p/0"),
                Step(.record(placed("b", 9000)), "withdraw p a 5000 moved", "announce p/0 b 9000"),
            ]),
        Case(
            testDescription: "nor that of one which was withdrawn when it answered after its death",
            steps: announcedAnew + death(of: "a", ["died a", "close p/0", "look p/0"]) + [
                Step(.plan(5001), "withdraw p a 5001 moved")
            ] + revival(of: "a", ["returned a"])),
        Case(
            testDescription: "its death ends nobody's wait for a successor",
            steps: live + [Step(.end("p", .takenOver))] + death(of: "a", ["died a", "close p/0"]) + [
                Step(.pass(.seconds(10)))
            ]),
    ]

    @Test(arguments: placing + failing + changing + ending + takingOver + dying)
    func `what happens, and what is to be done`(_ test: Case) {
        var script = PlacementScript(replicas: test.replicas)
        for (index, step) in test.steps.enumerated() {
            #expect(script.run(step.input) == step.lines.filter { !$0.isEmpty }, "step \(index): \(step.input)")
        }
    }

    @Test func `a former publication that tells of itself late changes nothing`() {
        var machine = PlacementMachine(routers: ["a": true], replicas: 1, now: .zero)
        let (key, announcement) = (ParticipantKey("p", onStage: "s"), Announcement.of("p", stage: "s", generation: 2))
        #expect(machine.started(ForwardingID(participant: key, serial: 2), announcement).count == 1)
        let former = ForwardingID(participant: key, serial: 1)
        #expect(machine.started(former, announcement).isEmpty)
        #expect(machine.ended(former, .takenOver, .zero).isEmpty)
        #expect(machine.participants[key]?.id.serial == 2 && machine.participants[key]?.successorBy == nil)
    }

    @Test func `every router that can be asked is asked each second, once at a time, and its lease renewed every fifth`() {
        var machine = PlacementMachine(routers: ["a": true, "b": false], replicas: 1, now: .zero)
        #expect(machine.deadline == .zero)
        #expect(machine.timePassed(.zero) == [.checkHealth(router: "a")])
        #expect(machine.deadline == .zero + .seconds(1))
        #expect(machine.timePassed(.zero + .seconds(1)).isEmpty)
        #expect(machine.checked(true, "a", .zero + .seconds(1)).isEmpty)
        #expect(machine.timePassed(.zero + .seconds(2)) == [.checkHealth(router: "a")])
        #expect(
            machine.timePassed(.zero + .seconds(5)) == [.renewLease(router: "a", []), .renewLease(router: "b", [])])
    }
}
