import Refusals
import Testing
import Wire

@testable import Admission

@Suite("The publish machine")
struct PublishMachineTests {
    /// What happens, and what is to be done then.
    struct Step {
        var input: PublishScript.Input
        var lines: [String]

        init(_ input: PublishScript.Input, _ lines: String...) { (self.input, self.lines) = (input, lines) }
    }

    struct Case: CustomTestStringConvertible {
        var testDescription: String
        var credentials = ["key"]
        var steps: [Step]
    }

    private static let claiming = [
        Step(.begin, "authorize key"), Step(.authorized(nil), "examine"), Step(.examined(nil), "claim"),
    ]
    private static let inUse = Refusal(.streamKeyInUse)
    private static let denied = Refusal(.participantDisconnected)

    // MARK: - Both

    private static let toTheClaim: [Case] = [
        Case(
            testDescription: "a bad credential is refused, and nothing reported of it",
            steps: [claiming[0], Step(.authorized(Refusal(.tokenExpired)), "refuse SD-1010")]),
        Case(
            testDescription: "an unknown name is tried in its other readings", credentials: ["key", "inst/key"],
            steps: [
                claiming[0], Step(.authorized(Refusal(.unknownStreamKey)), "authorize inst/key"),
                Step(.authorized(nil), "examine"),
            ]),
        Case(
            testDescription: "the last reading's refusal is told", credentials: ["key", "inst/key"],
            steps: [
                claiming[0], Step(.authorized(Refusal(.unknownStreamKey)), "authorize inst/key"),
                Step(.authorized(Refusal(.unknownStreamKey)), "refuse SD-1001"),
            ]),
        Case(
            testDescription: "any other refusal ends the search", credentials: ["key", "inst/key"],
            steps: [claiming[0], Step(.authorized(Refusal(.detachedStreamKey)), "refuse SD-1002")]),
        Case(
            testDescription: "what speaks against it is told before anything is claimed",
            steps: [claiming[0], claiming[1], Step(.examined(Refusal(.repeatedViolation)), "refuse SD-1052 of p")]),
        Case(
            testDescription: "a claim may be refused",
            steps: claiming + [Step(.claimed(.refused(Refusal(.stageFull))), "refuse SD-1005 of p")]),
        Case(
            testDescription: "whoever leaves early gives back what comes late",
            steps: claiming + [Step(.end), Step(.claimed(.granted(lease(1))), "release 1")]),
        Case(
            testDescription: "nobody is told twice",
            steps: claiming + [
                Step(.refuse(denied), "refuse SD-1007 of p"), Step(.refuse(denied)), Step(.end), Step(.leaseEnded(.takenOver)),
            ]),
        Case(
            testDescription: "answers that were not asked for change nothing",
            steps: [
                Step(.authorized(nil)), Step(.examined(nil)), Step(.admitted(nil)), Step(.looked(at: 0)), Step(.ready),
                claiming[0], Step(.begin), Step(.examined(nil)), Step(.claimed(.granted(lease(1))), "release 1"), claiming[1],
            ]),
    ]

    // MARK: - RTMP

    private static let live = claiming + [Step(.claimed(.granted(lease(1))), "start 1")]
    private static let held =
        claiming + [Step(.claimed(.held), "enter queue"), Step(.admitted(nil), "look after 0 ms")]

    private static let outwaiting: [Case] = [
        Case(testDescription: "who has the lease is live", steps: live),
        Case(testDescription: "the encoder leaves", steps: live + [Step(.end, "stop", "release 1")]),
        Case(
            testDescription: "the contract ends it",
            steps: live + [Step(.refuse(denied), "fail 1 SD-1007", "refuse SD-1007", "stop", "release 1")]),
        Case(
            testDescription: "another one takes over",
            steps: live + [Step(.leaseEnded(.takenOver), "give way", "stop", "release 1"), Step(.end)]),
        Case(
            testDescription: "an operator disconnects it",
            steps: live + [
                Step(.leaseEnded(.disconnected(denied)), "fail 1 SD-1007", "refuse SD-1007", "stop", "release 1")
            ]),
        Case(
            testDescription: "a lease that is taken away before its claim is answered is never live",
            steps: claiming + [
                Step(.leaseEnded(.takenOver)), Step(.claimed(.granted(lease(1))), "give way", "release 1"),
            ]),
        Case(
            testDescription: "nor is one that an operator has taken away meanwhile",
            steps: claiming + [
                Step(.leaseEnded(.disconnected(denied))),
                Step(.claimed(.granted(lease(1))), "fail 1 SD-1007", "refuse SD-1007", "release 1"),
            ]),
        Case(
            testDescription: "a live key holds the newcomer, and a frame refuses it",
            steps: held + [
                Step(.looked(at: 0), "look after 1 ms"), Step(.looked(at: 1), "look after 2 ms"),
                Step(.looked(at: 3, progress: 2), "leave queue", "refuse SD-1004 of p"),
            ]),
        Case(
            testDescription: "two seconds of silence, and it takes over",
            steps: held + [
                Step(.looked(at: 2_000), "take over"), Step(.looked(at: 2_001)),
                Step(.claimed(.granted(lease(2))), "leave queue", "start 2"),
            ]),
        Case(
            testDescription: "the incumbent leaves, and the key is free at once",
            steps: held + [
                Step(.looked(at: 5, hasEnded: true), "claim"), Step(.claimed(.granted(lease(2))), "leave queue", "start 2"),
            ]),
        Case(
            testDescription: "somebody else was quicker: it stays in the queue and waits for that one",
            steps: held + [
                Step(.looked(at: 5, hasEnded: true), "claim"), Step(.claimed(.held), "look after 1 ms"),
                Step(.looked(at: 6, progress: 6), "leave queue", "refuse SD-1004 of p"),
            ]),
        Case(
            testDescription: "no place in the queue",
            steps: claiming + [Step(.claimed(.held), "enter queue"), Step(.admitted(inUse), "refuse SD-1004 of p")]),
        Case(
            testDescription: "who waits may leave, or has waited for too long",
            steps: held + [Step(.refuse(Refusal(.authorityUnavailable)), "leave queue", "refuse SD-1014 of p")]),
        Case(
            testDescription: "a claim from the queue that comes too late is given back",
            steps: held + [
                Step(.looked(at: 2_000), "take over"), Step(.end, "leave queue"),
                Step(.claimed(.granted(lease(2))), "release 2"),
            ]),
        Case(
            testDescription: "a claim from the queue may be refused",
            steps: held + [
                Step(.looked(at: 2_000), "take over"),
                Step(.claimed(.refused(Refusal(.stageFull))), "leave queue", "refuse SD-1005 of p"),
            ]),
    ]

    // MARK: - WHIP

    private static let pending = claiming + [Step(.claimed(.granted(lease(1))), "prepare")]
    private static let contending =
        claiming + [Step(.claimed(.held), "enter queue"), Step(.admitted(nil), "prepare")]

    private static let winning: [Case] = [
        Case(testDescription: "media waits for its way", steps: pending + [Step(.ready, "start 1"), Step(.ready)]),
        Case(
            testDescription: "a session that nobody claims gives its lease back", steps: pending + [Step(.end, "release 1")]),
        Case(
            testDescription: "a token that is taken away while it waits",
            steps: pending + [Step(.refuse(denied), "fail 1 SD-1007", "refuse SD-1007", "release 1"), Step(.ready)]),
        Case(
            testDescription: "the incumbent keeps the lease until the newest is ready",
            steps: contending + [Step(.ready, "take over"), Step(.claimed(.granted(lease(2))), "start 2")]),
        Case(
            testDescription: "somebody else was quicker: the newest wins all the same",
            steps: contending + [
                Step(.ready, "take over"), Step(.claimed(.held), "take over"), Step(.claimed(.granted(lease(3))), "start 3"),
            ]),
        Case(
            testDescription: "it goes before it is ready, or while it takes over",
            steps: contending + [Step(.ready, "take over"), Step(.end), Step(.claimed(.granted(lease(2))), "release 2")]),
        Case(
            testDescription: "two that keep taking over are told to stop",
            steps: claiming + [
                Step(.claimed(.held), "enter queue"), Step(.admitted(Refusal(.takeoverFlapping)), "refuse SD-1006 of p"),
            ]),
        Case(
            testDescription: "the contract ends it",
            steps: pending + [
                Step(.ready, "start 1"), Step(.refuse(denied), "fail 1 SD-1007", "refuse SD-1007", "stop", "release 1"),
            ]),
    ]

    // MARK: -

    @Test(arguments: toTheClaim + outwaiting) func `of RTMP`(_ item: Case) {
        run(item, .outwaits(silence: .seconds(2)))
    }

    @Test(arguments: toTheClaim + winning) func `of WHIP`(_ item: Case) { run(item, .winsWhenReady) }

    private func run(_ item: Case, _ contest: PublishMachine.Contest) {
        var script = PublishScript(item.credentials, contest)
        for (number, step) in item.steps.enumerated() {
            #expect(script.run(step.input) == step.lines, "step \(number): \(step.input)")
        }
    }

    private static func lease(_ generation: UInt64) -> PublishLease { PublishScript.lease(generation) }
}

/// A `PublishMachine` that is told what happens in a table's words; what it wants done is read as lines.
struct PublishScript {
    enum Answer {
        case granted(PublishLease)
        case held
        case refused(Refusal)
    }

    enum Input {
        case begin
        /// Nil grants.
        case authorized(Refusal?)
        case examined(Refusal?)
        case claimed(Answer)
        case admitted(Refusal?)
        /// In milliseconds since the claim.
        case looked(at: Int, progress: Int = 0, hasEnded: Bool = false)
        case ready
        case leaseEnded(LeaseEnd)
        case refuse(Refusal)
        case end
    }

    private var machine: PublishMachine
    private static let grant = PublishGrant(participantID: "p", stageARN: "arn", stageID: "s", credentialHash: "h")

    init(_ credentials: [String], _ contest: PublishMachine.Contest) {
        machine = PublishMachine(credentials.map { Secret($0) }, contest: contest)
    }

    static func lease(_ generation: UInt64) -> PublishLease {
        PublishLease(participantID: "p", stageID: "s", stageSessionID: "st-1", generation: generation)
    }

    mutating func run(_ input: Input) -> [String] { feed(input).map(Self.line) }

    private mutating func feed(_ input: Input) -> [PublishMachine.Action] {
        switch input {
        case .begin: machine.begin()
        case .authorized(let refusal): machine.authorized(refusal.map { .failure($0) } ?? .success(Self.grant))
        case .examined(let objection): machine.examined(objection)
        case .claimed(.granted(let lease)): machine.claimed(.granted(lease), at: .zero)
        case .claimed(.held): machine.claimed(.held(by: Incumbent()), at: .zero)
        case .claimed(.refused(let refusal)): machine.claimed(.refused(refusal), at: .zero)
        case .admitted(let objection): machine.admittedToQueue(objection)
        case .looked(let now, let progress, let hasEnded):
            machine.looked(
                progress: .zero + .milliseconds(progress), hasEnded: hasEnded, at: .zero + .milliseconds(now))
        case .ready: machine.ready()
        case .leaseEnded(let reason): machine.leaseEnded(reason)
        case .refuse(let refusal): machine.refused(refusal)
        case .end: machine.ended()
        }
    }

    private static func line(_ action: PublishMachine.Action) -> String {
        switch action {
        case .authorize(let credential): "authorize \(credential.revealText())"
        case .examine: "examine"
        case .claim(_, let takeOver): takeOver ? "take over" : "claim"
        case .enterQueue: "enter queue"
        case .look(let delay): "look after \(delay.milliseconds) ms"
        case .leaveQueue: "leave queue"
        case .prepare: "prepare"
        case .start(_, let lease): "start \(lease.generation)"
        case .stop: "stop"
        case .fail(let lease, let refusal): "fail \(lease.generation) \(refusal.code.identifier)"
        case .release(let lease): "release \(lease.generation)"
        case .refuse(let refusal, let grant):
            "refuse \(refusal.code.identifier)" + (grant.map { " of \($0.participantID)" } ?? "")
        case .giveWay: "give way"
        }
    }

    /// Its progress is what the table says.
    private final class Incumbent: LeaseHolder {
        var lastProgress: MonotonicTime { .zero }
        var hasEnded: Bool { false }
        func end(_ reason: LeaseEnd) {}
    }
}
