import Admission
import Settings
import Testing
import Wire

@testable import Cluster

@Suite("A node's state machine")
struct NodeMachineTests {
    private let key = LeaseKey(stageID: "one", participantID: "p")
    private let session = SharedSession(id: "st-1", start: 7)
    private var now = MonotonicTime(nanoseconds: 1_000_000_000)

    private func makeMachine(_ adjust: (inout NodeSettings) -> Void = { _ in }) -> NodeMachine {
        var settings = NodeSettings(nodeID: "a")
        adjust(&settings)
        return NodeMachine(
            settings: settings,
            environment: NodeMachine.Environment(
                makeSessionID: { "st-new" }, wallNow: { WallTime(secondsSince1970: 1_800_000_000) }),
            now: now)
    }

    /// Past the grace that begins with a process.
    private func makeSettledMachine() -> (NodeMachine, MonotonicTime) {
        var machine = makeMachine()
        _ = machine.connected(runID: "1", now)
        let later = now + .seconds(60)
        _ = machine.answered(.nodes, .nodes(["a": "{}"]), sentAt: later, later)
        _ = machine.connected(runID: "1", later)
        let settled = later + .seconds(60)
        beat(&machine, 60, until: settled)
        return (machine, settled)
    }

    /// The server answers heartbeats, one a second.
    private func beat(_ machine: inout NodeMachine, _ count: Int, until end: MonotonicTime) {
        for second in (0..<count).reversed() {
            let time = end + (.zero - .seconds(second))
            _ = machine.answered(.heartbeat(record: nil, buries: false), .names([]), sentAt: time, time)
        }
    }

    private func newClaim(_ number: Int = 1, takesOver: Bool = false) -> NodeClaim {
        NodeClaim(number: number, key: key, set: "p", credential: "c", takesOver: takesOver, isToken: true)
    }

    private func remote(_ generation: UInt64) -> RemoteLease {
        RemoteLease(node: "b", LeaseIdentity(key, generation: generation))
    }

    /// Claims, and answers the mark; what follows is the claim's call.
    private func claiming(_ machine: inout NodeMachine, _ now: MonotonicTime, takesOver: Bool = false) -> ClusterCall? {
        #expect(machine.claim(newClaim(takesOver: takesOver), now) == [.call(.mark(stages: ["one"]))])
        let actions = machine.answered(.mark(stages: ["one"]), .done, sentAt: now, now)
        guard case .call(let call)? = actions.first else { return nil }
        return call
    }

    @Test func `a stage is marked before anything is claimed there, once`() throws {
        var (machine, now) = makeSettledMachine()
        let call = try #require(claiming(&machine, now))
        let granted = ClusterAnswer.claimed(.granted(.init(generation: 5, session: session)))
        let answer = machine.answered(call, granted, sentAt: now, now)
        #expect(
            answer == [.granted(claim: 1, LeaseIdentity(key, generation: 5), session)])
        let other = NodeClaim(
            number: 2, key: LeaseKey(stageID: "one", participantID: "q"), set: "q", credential: "c", takesOver: false,
            isToken: true)
        guard case .call(.claim(2, _))? = machine.claim(other, now).first else { return #expect(Bool(false), "not claimed") }
    }

    @Test func `that the history knows a session is said again by its renewals`() throws {
        var (machine, now) = makeSettledMachine()
        let call = try #require(claiming(&machine, now))
        _ = machine.answered(call, .claimed(.granted(.init(generation: 5, session: session))), sentAt: now, now)
        let announce = ClusterCall.announce(stage: "one", sessionID: session.id)
        #expect(machine.announce(session.id, ofStage: "one") == [.call(announce)])
        #expect(machine.answered(announce, nil, sentAt: now, now).isEmpty)
        let known = ClusterCall.RenewedLease(
            participantID: "p", generation: 5, set: "p", credential: "c", session: session, isRecorded: true)
        #expect(machine.renewNow(now) == [.call(.renew(stage: "one", [known]))])
    }

    /// Whoever has the key may open as many connections as the node takes: each claim that was told by the one before it would be
    /// a call inside of that, until there is no stack left.
    @Test func `a long queue is told at once`() throws {
        var (machine, now) = makeSettledMachine()
        let call = try #require(claiming(&machine, now))
        for number in 2...20_000 { #expect(machine.claim(newClaim(number), now).isEmpty) }
        let granted = ClusterAnswer.claimed(.granted(.init(generation: 5, session: session)))
        let actions = machine.answered(call, granted, sentAt: now, now)
        #expect(actions.first == .granted(claim: 1, LeaseIdentity(key, generation: 5), session))
        #expect(actions.dropFirst().elementsEqual((2...20_000).map { ClusterAction.heldHere(claim: $0) }))
    }

    @Test func `a lease elsewhere is asked after, and its owner's word is the answer`() throws {
        var (machine, now) = makeSettledMachine()
        let call = try #require(claiming(&machine, now))
        let held = ClusterAnswer.claimed(.held(by: remote(9), remaining: .seconds(8)))
        let asked = machine.answered(call, held, sentAt: now, now)
        guard case .send(.ask(let question), to: "b")? = asked.first else { return #expect(Bool(false), "\(asked)") }
        #expect(question.lease.generation == 9)
        let later = now + .milliseconds(3)
        let told = machine.received(.answer(question: question.number, .live(age: .milliseconds(40))), later)
        guard case .heldElsewhere(claim: 1, _, let progress)? = told.first else { return #expect(Bool(false), "\(told)") }
        #expect(progress == now - .milliseconds(40))
    }

    @Test func `an owner who has it no more lets it be taken at once`() throws {
        var (machine, now) = makeSettledMachine()
        let call = try #require(claiming(&machine, now))
        let held = ClusterAnswer.claimed(.held(by: remote(9), remaining: .seconds(8)))
        guard case .send(.ask(let question), _)? = machine.answered(call, held, sentAt: now, now).first else {
            return #expect(Bool(false), "not asked")
        }
        let actions = machine.received(.answer(question: question.number, .gone), now)
        guard case .call(.claim(1, let arguments))? = actions.first else { return #expect(Bool(false), "\(actions)") }
        #expect(arguments.takesOver == 9)
    }

    @Test func `an owner that is silent for 500 ms is waited for until its lease ends`() throws {
        var (machine, now) = makeSettledMachine()
        let call = try #require(claiming(&machine, now))
        let held = ClusterAnswer.claimed(.held(by: remote(9), remaining: .milliseconds(300)))
        _ = machine.answered(call, held, sentAt: now, now)
        now = now + .milliseconds(500)
        #expect(machine.timePassed(now).contains(.call(inquiry)))
        let retried = try #require(claim(in: machine.answered(inquiry, .heard(.milliseconds(900)), sentAt: now, now)))
        #expect(retried.isOwnerSilent && retried.ofDeadOwner == 0)
        _ = machine.answered(.claim(number: 1, retried), held, sentAt: now, now)
        #expect(machine.deadline <= now + .milliseconds(301))
    }

    @Test func `a lease that has ended and is kept for its node is asked for once a second`() throws {
        var (machine, now) = makeSettledMachine()
        let call = try #require(claiming(&machine, now))
        let kept = ClusterAnswer.claimed(.held(by: remote(9), remaining: .zero))
        _ = machine.answered(call, kept, sentAt: now, now)
        now = now + .milliseconds(500)
        _ = machine.timePassed(now)
        let retried = try #require(claim(in: machine.answered(inquiry, .heard(.milliseconds(900)), sentAt: now, now)))
        _ = machine.answered(.claim(number: 1, retried), kept, sentAt: now, now)
        let (early, due) = (machine.timePassed(now + .milliseconds(1_000)), machine.timePassed(now + .milliseconds(1_001)))
        #expect(claim(in: early) == nil && claim(in: due) != nil)
    }

    /// Asks whether the owner of the lease was heard of.
    private var inquiry: ClusterCall { .heard(node: "b", number: 1) }

    private func claim(in actions: [ClusterAction]) -> ClusterCall.ClaimArguments? {
        actions.compactMap { if case .call(.claim(1, let arguments)) = $0 { arguments } else { nil } }.first
    }

    /// A claim whose owner did not answer and was heard of 900 ms ago; it waits.
    private func waiting(_ machine: inout NodeMachine, _ now: inout MonotonicTime) throws {
        let held = ClusterAnswer.claimed(.held(by: remote(9), remaining: .seconds(8)))
        let call = try #require(claiming(&machine, now))
        _ = machine.answered(call, held, sentAt: now, now)
        now = now + .milliseconds(500)
        _ = machine.timePassed(now)
        let retried = try #require(claim(in: machine.answered(inquiry, .heard(.milliseconds(900)), sentAt: now, now)))
        _ = machine.answered(.claim(number: 1, retried), held, sentAt: now, now)
        // Until its node may be dead it asks for the lease once a second.
        for _ in 0..<3 {
            now = now + .milliseconds(1_001)
            let retried = try #require(claim(in: machine.timePassed(now)))
            _ = machine.answered(.claim(number: 1, retried), held, sentAt: now, now)
        }
        now = machine.deadline
        beat(&machine, 4, until: now)
        #expect(machine.timePassed(now).contains(.call(inquiry)))
    }

    @Test func `the lease of a node that the servers have not heard of for 4.5 s is asked for as a dead one's`() throws {
        var (machine, now) = makeSettledMachine()
        let asked = now
        try waiting(&machine, &now)
        #expect(now - asked < .milliseconds(4_200))
        let taken = claim(in: machine.answered(inquiry, .heard(.milliseconds(4_510)), sentAt: now, now))
        #expect(taken?.ofDeadOwner == 9)
    }

    @Test func `a node that was heard of again is asked again`() throws {
        var (machine, now) = makeSettledMachine()
        try waiting(&machine, &now)
        let again = try #require(claim(in: machine.answered(inquiry, .heard(.milliseconds(300)), sentAt: now, now)))
        #expect(again.ofDeadOwner == 0 && !again.isOwnerSilent)
        let held = ClusterAnswer.claimed(.held(by: remote(9), remaining: .seconds(8)))
        let actions = machine.answered(.claim(number: 1, again), held, sentAt: now, now)
        guard case .send(.ask, to: "b")? = actions.first else { return #expect(Bool(false), "\(actions)") }
    }

    @Test func `after a silence of the servers no node that was known is missed before it can have said that it lives`() {
        var (machine, now) = makeSettledMachine()
        _ = machine.answered(.nodes, .nodes(["a": "{}", "b": "{}"]), sentAt: now, now)
        now = now + .seconds(12)
        _ = machine.connected(runID: "1", now)
        _ = machine.answered(.nodes, .nodes(["a": "{}"]), sentAt: now, now)
        #expect(machine.nodes.keys.sorted() == ["a", "b"])
        now = now + .seconds(16)
        beat(&machine, 16, until: now)
        _ = machine.answered(.nodes, .nodes(["a": "{}"]), sentAt: now, now)
        #expect(machine.nodes.keys.sorted() == ["a"])
    }

    @Test func `nobody is dead as long as the server may have been silent itself`() throws {
        var (machine, now) = makeSettledMachine()
        try waiting(&machine, &now)
        let beat = ClusterCall.heartbeat(record: nil, buries: true)
        _ = machine.answered(beat, .names([]), sentAt: now - .milliseconds(1_001), now)
        let answer = ClusterAnswer.heard(.milliseconds(5_600))
        #expect(claim(in: machine.answered(inquiry, answer, sentAt: now, now))?.ofDeadOwner == 0)
    }

    @Test func `a claim waits no longer than its patience`() throws {
        var (machine, now) = makeSettledMachine()
        let call = try #require(claiming(&machine, now))
        let end = now + .seconds(11)
        #expect(machine.answered(call, .claimed(.wait), sentAt: end, end) == [.refused(claim: 1, .away)])
    }

    @Test func `claims of one participant take turns, and the later finds the earlier here`() throws {
        var (machine, now) = makeSettledMachine()
        let call = try #require(claiming(&machine, now))
        #expect(machine.claim(newClaim(2), now).isEmpty)
        let granted = ClusterAnswer.claimed(.granted(.init(generation: 5, session: session)))
        let answers = machine.answered(call, granted, sentAt: now, now)
        #expect(answers.contains(.heldHere(claim: 2)))
    }

    @Test func `a renewal without an answer ends nothing, a higher generation that was read does`() throws {
        var (machine, now) = makeSettledMachine()
        let call = try #require(claiming(&machine, now))
        _ = machine.answered(call, .claimed(.granted(.init(generation: 5, session: session))), sentAt: now, now)
        let renewal = machine.renewNow(now).compactMap { if case .call(let call) = $0 { call } else { nil } }
        let renew = try #require(renewal.first)
        machine.disconnected()
        #expect(machine.answered(renew, nil, sentAt: now, now).isEmpty)
        let later = machine.timePassed(now + .seconds(60))
        #expect(later.allSatisfy { if case .end = $0 { false } else { true } })
        let lost = machine.answered(renew, .renewed([.lost(generation: 6)]), sentAt: now, now)
        #expect(lost.contains(.end(LeaseIdentity(key, generation: 5), .takenOver)))
        // What is lost is not given back.
        #expect(machine.release(LeaseIdentity(key, generation: 5)).isEmpty)
    }

    @Test(arguments: [true, false])
    func `a stage whose lease was lost is left in its time`(isTold: Bool) throws {
        var (machine, now) = makeSettledMachine()
        let call = try #require(claiming(&machine, now))
        _ = machine.answered(call, .claimed(.granted(.init(generation: 5, session: session))), sentAt: now, now)
        if isTold {
            _ = machine.received(.takenOver(LeaseIdentity(key, generation: 6)), now)
        } else {
            let renewal = machine.renewNow(now).compactMap { if case .call(let call) = $0 { call } else { nil } }
            _ = machine.answered(try #require(renewal.first), .renewed([.lost(generation: 6)]), sentAt: now, now)
        }
        let idle = ClusterCall.idle(stage: "one", told: nil)
        let later = now + machine.settings.quotas.sessionLinger + .seconds(1)
        let asked = machine.timePassed(later)
        #expect(asked.contains(.call(idle)))
        #expect(machine.answered(idle, .idle(.live), sentAt: later, later) == [.call(.unmark(stage: "one"))])
    }

    @Test func `a session that began while the server was away ends when its stage is left, though another one runs`() throws {
        var machine = makeMachine { $0.cluster.degraded = .admit }
        let admitted = machine.claim(newClaim(), now)
        guard case .granted(claim: 1, let lease, let own)? = admitted.first else { return #expect(Bool(false), "\(admitted)") }
        _ = machine.connected(runID: "1", now)
        #expect(machine.release(lease) == [.call(.release(lease))])
        _ = machine.answered(.release(lease), .done, sentAt: now, now)
        let later = now + machine.settings.quotas.sessionLinger + .seconds(1)
        let asked = ClusterCall.idle(stage: "one")
        #expect(machine.timePassed(later).contains(.call(asked)))
        let left = machine.answered(asked, .idle(.live), sentAt: later, later)
        #expect(left == [.sessionEnded(stage: "one", sessionID: own.id), .call(.unmark(stage: "one"))])
    }

    @Test func `what is given back while the server is away is given back when it returns, after what is held is renewed`() throws
    {
        var (machine, now) = makeSettledMachine()
        let call = try #require(claiming(&machine, now))
        _ = machine.answered(call, .claimed(.granted(.init(generation: 5, session: session))), sentAt: now, now)
        machine.disconnected()
        #expect(machine.release(LeaseIdentity(key, generation: 5)).isEmpty)
        let actions = machine.connected(runID: "1", now + .seconds(20))
        #expect(actions.first == .call(.mark(stages: ["one"])))
        #expect(actions.contains(.call(.release(LeaseIdentity(key, generation: 5)))))
    }

    @Test func `what a sweep answers is told once, and dropped by the next one that says so`() throws {
        var (machine, now) = makeSettledMachine()
        _ = machine.answered(.heartbeat(record: nil, buries: true), .names(["b"]), sentAt: now, now)
        let asked = machine.answered(.stages(ofNode: "b"), .names(["one"]), sentAt: now, now)
        let sweep = ClusterCall.sweep(stage: "one", node: "b", told: [])
        #expect(asked == [.call(.mark(stages: ["one"])), .call(sweep)])
        let ended = EndedLease(remote(9).lease, sessionID: session.id)
        let acknowledging = ClusterCall.sweep(stage: "one", node: "b", told: [ended.lease])
        let told = machine.answered(sweep, .swept(left: 1, [ended]), sentAt: now, now)
        #expect(told == [.closed(stage: "one", [ended]), .call(acknowledging)])
        #expect(machine.answered(sweep, .swept(left: 1, [ended]), sentAt: now, now).isEmpty, "asked before it was told")
        let gone = machine.answered(acknowledging, .swept(left: 0, []), sentAt: now, now)
        let burial = ClusterCall.bury(node: "b")
        #expect(gone == [.call(burial)])
        #expect(machine.answered(burial, .buried(true), sentAt: now, now) == [.call(.forgetStages(ofNode: "b"))])
    }

    @Test func `a node that has come back keeps its stages, and is not swept any more`() throws {
        var (machine, now) = makeSettledMachine()
        _ = machine.answered(.heartbeat(record: nil, buries: true), .names(["b"]), sentAt: now, now)
        #expect(machine.answered(.stages(ofNode: "b"), .names([]), sentAt: now, now) == [.call(.bury(node: "b"))])
        #expect(machine.answered(.bury(node: "b"), .buried(false), sentAt: now, now).isEmpty)

        _ = machine.answered(.heartbeat(record: nil, buries: true), .names(["b"]), sentAt: now, now)
        let sweep = ClusterCall.sweep(stage: "one", node: "b", told: [])
        #expect(machine.answered(.stages(ofNode: "b"), .names(["one"]), sentAt: now, now).contains(.call(sweep)))
        _ = machine.answered(sweep, .swept(left: 1, []), sentAt: now, now)
        now = now + .seconds(1)
        #expect(machine.timePassed(now).contains(.call(sweep)))
        _ = machine.answered(.nodes, .nodes(["a": "{}", "b": "{}"]), sentAt: now, now)
        now = now + .seconds(1)
        #expect(machine.timePassed(now).allSatisfy { $0 != .call(sweep) })
    }

    @Test func `a node that was buried and lives tells its record and its stages again`() throws {
        var (machine, now) = makeSettledMachine()
        _ = try #require(claiming(&machine, now))
        let beat = ClusterCall.heartbeat(record: "{}", buries: true)
        _ = machine.answered(beat, .names([]), sentAt: now, now)
        #expect(machine.answered(.nodes, .nodes(["a": "{}"]), sentAt: now, now) == [.nodesChanged])
        let buried = machine.answered(.nodes, .nodes(["a": ""]), sentAt: now, now)
        #expect(buried == [.nodesChanged, .call(.mark(stages: ["one"]))])
        now = now + .seconds(1)
        #expect(machine.timePassed(now).contains(.call(beat)))
    }

    /// Its load has changed meanwhile: the heartbeat by which it is back has brought its record.
    @Test func `a node that was silent for longer than heartbeats live marks its stages though its record is there`() throws {
        var (machine, now) = makeSettledMachine()
        _ = try #require(claiming(&machine, now))
        now = now + .seconds(12)
        _ = machine.answered(.heartbeat(record: "{}", buries: true), .names([]), sentAt: now, now)
        let nodes = ClusterAnswer.nodes(["a": "{}"])
        #expect(machine.answered(.nodes, nodes, sentAt: now, now) == [.nodesChanged, .call(.mark(stages: ["one"]))])
        #expect(machine.answered(.nodes, nodes, sentAt: now, now) == [.nodesChanged])
    }

    @Test func `the end of a session is told once, and asked for until the server knows that`() throws {
        var (machine, now) = makeSettledMachine()
        let lease = LeaseIdentity(key, generation: 6)
        _ = machine.answered(.release(lease), .done, sentAt: now, now)
        now = now + .seconds(3_600)
        let asked = ClusterCall.idle(stage: "one")
        #expect(machine.timePassed(now).contains(.call(asked)))
        let dropped = EndedLease(remote(9).lease, sessionID: session.id)
        let over = ClusterAnswer.idle(.ended(sessionID: session.id, [dropped]))
        let acknowledging = ClusterCall.idle(stage: "one", told: session.id)
        let told = machine.answered(asked, over, sentAt: now, now)
        #expect(
            told == [
                .closed(stage: "one", [dropped]), .sessionEnded(stage: "one", sessionID: session.id), .call(acknowledging),
            ])
        #expect(machine.answered(acknowledging, nil, sentAt: now, now).isEmpty)
        now = now + .seconds(4)
        #expect(machine.timePassed(now).contains(.call(acknowledging)), "whether it was carried out is not known")
        #expect(machine.answered(asked, over, sentAt: now, now).isEmpty, "asked before it was told")
        #expect(machine.answered(acknowledging, .idle(.none), sentAt: now, now) == [.call(.unmark(stage: "one"))])
    }

    @Test func `the stages of the process before this one are taken up, and the ends of their sessions told`() {
        var machine = makeMachine()
        let own = ClusterCall.stages(ofNode: "a")
        #expect(machine.connected(runID: "1", now).contains(.call(own)))
        #expect(machine.answered(own, .names(["one"]), sentAt: now, now).isEmpty)
        let again = machine.connected(runID: "1", now)
        #expect(again.contains(.call(.mark(stages: ["one"]))))
        #expect(again.allSatisfy { $0 != .call(own) }, "known")
        let asked = ClusterCall.idle(stage: "one")
        #expect(machine.timePassed(now + .seconds(9)).allSatisfy { $0 != .call(asked) }, "its leases may stand yet")
        let later = now + .seconds(11)
        #expect(machine.timePassed(later).contains(.call(asked)))
        let over = ClusterAnswer.idle(.ended(sessionID: session.id, []))
        let told = machine.answered(asked, over, sentAt: later, later)
        #expect(told.first == .sessionEnded(stage: "one", sessionID: session.id))
    }

    @Test func `a stage of the process before this one on which somebody publishes again is not asked for`() throws {
        var (machine, now) = makeSettledMachine()
        let call = try #require(claiming(&machine, now))
        _ = machine.answered(.stages(ofNode: "a"), .names(["one"]), sentAt: now, now)
        _ = machine.answered(call, .claimed(.granted(.init(generation: 5, session: session))), sentAt: now, now)
        let later = machine.timePassed(now + .seconds(60))
        #expect(later.allSatisfy { $0 != .call(.idle(stage: "one")) })
    }

    @Test(arguments: [(nil, .away), (.claimed(.full), .full)] as [(ClusterAnswer?, ClusterAction.Refused)])
    func `a stage whose lease was not to be had is left again`(answer: ClusterAnswer?, reason: ClusterAction.Refused) throws {
        var (machine, now) = makeSettledMachine()
        let call = try #require(claiming(&machine, now))
        #expect(machine.answered(call, answer, sentAt: now, now) == [.refused(claim: 1, reason)])
        now = now + .seconds(180)
        let asked = ClusterCall.idle(stage: "one")
        #expect(machine.timePassed(now).contains(.call(asked)))
        #expect(machine.answered(asked, .idle(.live), sentAt: now, now) == [.call(.unmark(stage: "one"))])
    }

    @Test func `what is given back without an answer is given back again with the next renewal`() throws {
        var (machine, now) = makeSettledMachine()
        let call = try #require(claiming(&machine, now))
        _ = machine.answered(call, .claimed(.granted(.init(generation: 5, session: session))), sentAt: now, now)
        let lease = LeaseIdentity(key, generation: 5)
        let release = ClusterCall.release(lease)
        #expect(machine.release(lease) == [.call(release)])
        _ = machine.answered(release, nil, sentAt: now, now)
        now = now + .seconds(3)
        #expect(machine.timePassed(now).contains(.call(release)))
        _ = machine.answered(release, .done, sentAt: now, now)
        now = now + .seconds(3)
        #expect(machine.timePassed(now).allSatisfy { $0 != .call(release) })
    }

    @Test func `a claim whose answer was lost closes what it displaced when it is made again`() throws {
        var (machine, now) = makeSettledMachine()
        let call = try #require(claiming(&machine, now))
        #expect(machine.answered(call, nil, sentAt: now, now) == [.refused(claim: 1, .away)])
        let again = machine.claim(newClaim(2), now)
        guard case .call(let second)? = again.first else { return #expect(Bool(false), "\(again)") }
        let lost = EndedLease(LeaseIdentity(key, generation: 5), sessionID: session.id)
        let granted = machine.answered(second, granted(6, from: "a", lost), sentAt: now, now)
        #expect(granted.first == .closed(stage: "one", [lost]))
        // One that is known goes on under the new lease.
        guard case .call(let third)? = machine.claim(newClaim(3, takesOver: true), now).first else {
            return #expect(Bool(false), "not claimed")
        }
        let known = EndedLease(LeaseIdentity(key, generation: 6), sessionID: session.id)
        #expect(machine.answered(third, self.granted(7, from: "a", known), sentAt: now, now).count == 1)
    }

    @Test func `a node that was heard tells of what it lost, and after its next renewal it is told for it`() throws {
        var (machine, now) = makeSettledMachine()
        let call = try #require(claiming(&machine, now))
        let held = ClusterAnswer.claimed(.held(by: remote(9), remaining: .seconds(8)))
        guard case .send(.ask(let question), _)? = machine.answered(call, held, sentAt: now, now).first else {
            return #expect(Bool(false), "not asked")
        }
        _ = machine.received(.answer(question: question.number, .live(age: .seconds(3))), now)
        guard case .call(let takeOver)? = machine.claim(newClaim(2, takesOver: true), now).first else {
            return #expect(Bool(false), "not claimed")
        }
        let displaced = EndedLease(remote(9).lease, sessionID: session.id)
        let lease = LeaseIdentity(key, generation: 10)
        let actions = machine.answered(takeOver, granted(10, from: "b", displaced), sentAt: now, now)
        #expect(actions == [.send(.takenOver(lease), to: "b"), .granted(claim: 2, lease, session)])
        #expect(machine.timePassed(now + .milliseconds(3_999)).allSatisfy { $0 != .closed(stage: "one", [displaced]) })
        #expect(machine.timePassed(now + .seconds(4)).contains(.closed(stage: "one", [displaced])))
        #expect(machine.timePassed(now + .seconds(5)).allSatisfy { $0 != .closed(stage: "one", [displaced]) }, "once")
    }

    private func granted(_ generation: UInt64, from node: String, _ lease: EndedLease) -> ClusterAnswer {
        .claimed(.granted(.init(generation: generation, session: session, displaced: .init(node: node, lease: lease))))
    }

    /// Its disk or its memory is full: nobody could say that it lives.
    @Test func `who could write nothing buries nobody, and renews what it holds before it says that it lives`() throws {
        var (machine, now) = makeSettledMachine()
        let call = try #require(claiming(&machine, now))
        _ = machine.answered(call, .claimed(.granted(.init(generation: 5, session: session))), sentAt: now, now)
        let beat = ClusterCall.heartbeat(record: "{}", buries: false)
        for _ in 0..<12 {
            now = now + .seconds(1)
            _ = machine.timePassed(now)
            _ = machine.answered(beat, nil, sentAt: now, now)
        }
        now = now + .seconds(1)
        #expect(machine.timePassed(now).contains(.call(beat)))
        let back = machine.answered(beat, .names([]), sentAt: now, now)
        let renewal = try #require(back.firstIndex { if case .call(.renew) = $0 { true } else { false } })
        let heartbeat = try #require(back.firstIndex(of: .call(beat)))
        #expect(renewal < heartbeat)
    }

    @Test func `nobody is buried in a grace`() {
        var machine = makeMachine()
        let first = machine.connected(runID: "1", now)
        #expect(first.contains(.call(.heartbeat(record: "{}", buries: false))))
        var (settled, later) = makeSettledMachine()
        later = later + .seconds(60)
        let second = settled.timePassed(later)
        #expect(second.contains { if case .call(.heartbeat(_, buries: true)) = $0 { true } else { false } })
    }
}
