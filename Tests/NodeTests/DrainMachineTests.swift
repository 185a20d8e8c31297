import Admission
import Settings
import Testing
import Wire

@testable import Node

@Suite
struct DrainMachineTests {
    private typealias Action = DrainMachine.Action
    private typealias Census = DrainMachine.Census

    private static let start = MonotonicTime.zero
    private static let oneLive = Census(live: 1)

    private func machine(grace: Duration = .seconds(10), timeout: Duration = .seconds(60)) -> DrainMachine {
        var settings = DrainSettings(grace: grace, timeout: timeout, closesPerSecond: 1)
        settings.takeOverTimeout = .seconds(3_600)
        return DrainMachine(settings)
    }

    private func at(_ seconds: Int) -> MonotonicTime { Self.start + .seconds(seconds) }

    @Test
    func `a signal with nothing live ends the process in one go`() {
        var machine = machine()
        let actions = machine.terminate(Census(), at: Self.start)
        let wanted: [Action] = [
            .showLeaving, .log(.started(endsProcess: true)), .startTurns, .refusePublishes, .requestReconnect,
            .stopTurns, .log(.finished), .stop,
        ]
        #expect(actions == wanted)
        #expect(machine.isOver)
    }

    @Test
    func `with a live stream it waits for the grace, then refuses, then closes at the deadline`() {
        var machine = machine()
        let first: [Action] = [.showLeaving, .log(.started(endsProcess: true)), .startTurns]
        #expect(machine.terminate(Self.oneLive, at: Self.start) == first)
        #expect(machine.turn(Self.oneLive, at: at(9)) == [])
        #expect(machine.turn(Self.oneLive, at: at(10)) == [.refusePublishes, .requestReconnect])
        #expect(machine.turn(Self.oneLive, at: at(60)) == [.close(count: 1)])
        #expect(machine.turn(Census(), at: at(61)) == [.stopTurns, .log(.finished), .stop])
    }

    @Test
    func `changed settings count for a drain that is under way`() {
        var machine = machine()
        _ = machine.terminate(Self.oneLive, at: Self.start)
        _ = machine.turn(Self.oneLive, at: at(10))
        machine.settings.timeout = .seconds(120)
        #expect(machine.turn(Self.oneLive, at: at(60)) == [])
        #expect(machine.turn(Self.oneLive, at: at(120)) == [.close(count: 1)])
    }

    @Test
    func `streams of a process whose place is taken get more time while they live`() {
        var machine = machine()
        _ = machine.outlive(at: Self.start)
        _ = machine.turn(Self.oneLive, at: at(1))
        machine.settings.takeOverTimeout = .seconds(7_200)
        #expect(machine.turn(Self.oneLive, at: at(3_600)) == [])
        #expect(machine.turn(Self.oneLive, at: at(7_200)) == [.close(count: 1)])
    }

    @Test
    func `a second signal ends the process at once`() {
        var machine = machine()
        _ = machine.terminate(Self.oneLive, at: Self.start)
        #expect(machine.terminate(Self.oneLive, at: at(1)) == [.log(.cutShort), .stop])
    }

    @Test
    func `what the API began does not end the process, and is taken back`() {
        var machine = machine(grace: .zero)
        let begun: [Action] = [
            .showLeaving, .log(.started(endsProcess: false)), .startTurns, .refusePublishes, .requestReconnect,
        ]
        #expect(machine.begin(Self.oneLive, at: Self.start) == begun)
        #expect(machine.begin(Self.oneLive, at: at(1)) == [], "it drains already")
        #expect(machine.turn(Census(), at: at(2)) == [.stopTurns, .log(.finished)])
        #expect(machine.cancel() == [.stopTurns, .showServing, .takePublishes, .log(.cancelled)])
        #expect(machine.phase == nil)
        #expect(machine.cancel() == [])
    }

    @Test
    func `a signal's drain is not taken back, a signal ends what the API began`() {
        var signalled = machine()
        _ = signalled.terminate(Self.oneLive, at: Self.start)
        #expect(signalled.cancel() == [])

        var drained = machine()
        _ = drained.begin(Census(), at: Self.start)
        #expect(drained.terminate(Census(), at: at(1)) == [.stop], "everything is over already")

        var draining = machine(grace: .zero)
        _ = draining.begin(Self.oneLive, at: Self.start)
        #expect(draining.terminate(Self.oneLive, at: at(1)) == [])
        #expect(draining.turn(Census(), at: at(2)) == [.stopTurns, .log(.finished), .stop])
    }

    @Test
    func `whose place is taken refuses at once, asks nobody to go, and ends with its last session`() {
        var machine = machine()
        #expect(machine.outlive(at: Self.start) == [.startTurns])
        #expect(machine.turn(Self.oneLive, at: at(1)) == [.refusePublishes])
        #expect(machine.turn(Census(starting: 1), at: at(2)) == [], "it may go live yet")
        #expect(machine.turn(Census(), at: at(3)) == [.stopTurns, .log(.finished), .tellSuccessor, .stop])
    }

    @Test
    func `it is the way to the process before it and stays while that one has sessions`() {
        var machine = machine()
        _ = machine.outlive(at: Self.start)
        #expect(machine.turn(Census(hasPredecessor: true), at: at(1)) == [.refusePublishes])
        #expect(machine.turn(Census(), at: at(2)).last == .stop)
    }

    @Test
    func `a signal is told to the process before us, and to ours when its place is taken`() {
        var machine = machine()
        _ = machine.outlive(at: Self.start)
        _ = machine.turn(Self.oneLive, at: at(1))
        let census = Census(live: 1, hasPredecessor: true)
        let actions = machine.terminate(census, at: at(2))
        #expect(actions == [.terminatePredecessor, .showLeaving, .log(.started(endsProcess: true)), .startTurns])
        #expect(machine.turn(census, at: at(12)) == [.refusePublishes, .requestReconnect])
    }

    @Test
    func `when the successor dies we serve as before`() {
        var machine = machine()
        #expect(machine.comeBack() == [], "nobody had our place")
        _ = machine.outlive(at: Self.start)
        #expect(machine.comeBack() == [.stopTurns])
        #expect(machine.phase == nil)
        #expect(machine.turn(Census(), at: at(1)) == [])
    }

    @Test(arguments: [true, false])
    func `a signal's drain goes on when the successor dies, whichever came first`(isSignalFirst: Bool) {
        var machine = machine(grace: .zero)
        if isSignalFirst { _ = machine.terminate(Self.oneLive, at: Self.start) }
        _ = machine.outlive(at: Self.start)
        if !isSignalFirst { _ = machine.terminate(Self.oneLive, at: Self.start) }
        #expect(machine.comeBack() == [.refusePublishes])
        #expect(machine.turn(Self.oneLive, at: at(59)) == [])
        #expect(machine.turn(Self.oneLive, at: at(60)) == [.close(count: 1)])
        #expect(machine.turn(Census(), at: at(61)) == [.stopTurns, .log(.finished), .stop])
    }

    @Test
    func `a drain goes on when a take-over is given up half-way`() {
        var machine = machine(grace: .seconds(1))
        _ = machine.terminate(Self.oneLive, at: Self.start)
        #expect(machine.comeBack() == [], "publishes are taken until the grace is over")
        _ = machine.turn(Self.oneLive, at: at(1))
        #expect(machine.comeBack() == [.refusePublishes], "the take-over's end had admitted them again")
    }

    @Test
    func `what the API began goes on when the successor dies, and can be taken back`() {
        var machine = machine(grace: .zero)
        _ = machine.begin(Self.oneLive, at: Self.start)
        _ = machine.outlive(at: at(1))
        #expect(machine.turn(Self.oneLive, at: at(60)) == [.refusePublishes], "streams outlive us as long as they like")
        #expect(machine.comeBack() == [.refusePublishes])
        #expect(machine.turn(Self.oneLive, at: at(61)) == [.close(count: 1)])
        #expect(machine.cancel() == [.stopTurns, .showServing, .takePublishes, .log(.cancelled)])
    }
}
