import Admission
import Foundation
import HTTP
import HandoverCodec
import Refusals
import Testing

@testable import Handover
@testable import Store

@Suite("The predecessor's side of a take-over")
struct HandoverMachineTests {
    private typealias Action = HandoverMachine.Action

    private static let busy = "another process is taking its place"
    private static let lease = PublishLease(participantID: "p", stageID: "s", stageSessionID: "st-1", generation: 7)
    private static let recovered = EmbeddedStore.Recovered(activeSessions: [], highestGeneration: 9)

    /// One input and what has to come of it.
    private struct Step: Sendable {
        var input: @Sendable (inout HandoverMachine) -> [Action]
        var actions: [Action]

        init(_ actions: [Action], _ input: @escaping @Sendable (inout HandoverMachine) -> [Action]) {
            (self.actions, self.input) = (actions, input)
        }

        static func hears(_ message: HandoverMessage, _ actions: [Action]) -> Step { Step(actions) { $0.received(message) } }
    }

    private static let connected = Step([.accept, .wake(after: HandoverMachine.patience)]) { $0.connected(obstacle: nil) }
    private static let greeted = Step.hears(
        .hello(version: HandoverMessage.version, process: 42, takesPlacements: true),
        [.log(.began(process: 42)), .offer])
    private static let prepared = Step.hears(.prepare, [.suspendAdministration, .suspendStore])
    private static let suspended = Step([.tellLiving, .tellReservations, .send(.prepared)]) { $0.storeSuspended() }
    private static let ready = Step.hears(.ready, [.admit(false), .suspendAccepting(step: 1)])
    private static let oneAccepts = Step([]) { $0.workerDone(step: 1) }
    private static let nobodyAccepts = Step([.relay, .suspendReading(step: 2)]) { $0.workerDone(step: 1) }
    private static let oneReads = Step([]) { $0.workerDone(step: 2) }
    private static let nobodyReads = Step([
        .wake(after: nil), .listen(false), .tellReservations, .tellPlacements, .passName(to: 42),
        .tellPredecessor(isSucceeded: true), .send(.yours), .tellPredecessors, .log(.handedOver), .outlive, .tellProgress,
    ]) { $0.workerDone(step: 2) }

    private static let parted = Step([.clear, .wake(after: HandoverMachine.farewell)]) { $0.closed(isDrained: false) }
    private static let resuming: [Action] = [
        .tellPredecessor(isSucceeded: false), .resumeStore, .admit(true), .comeBack, .resumeWorkers,
    ]
    private static let gone = Step([.wake(after: nil), .forgetConnection] + resuming) { $0.gone() }
    private static let back = Step([
        .wake(after: nil), .takeBack(recovered), .resumeAdministration, .takeBackName, .listen(true), .log(.rolledBack),
    ]) { $0.storeResumed(.success(recovered)) }

    private static let wholeWay = [
        connected, greeted, prepared, suspended, ready, oneAccepts, nobodyAccepts, oneReads, nobodyReads,
    ]

    private static func way(_ count: Int) -> [Step] { Array(wholeWay.prefix(count)) }

    /// A machine of two workers after these steps, each of which does what it says.
    private func machine(after steps: [Step]) -> HandoverMachine {
        var machine = HandoverMachine(workers: 2)
        for step in steps { #expect(step.input(&machine) == step.actions) }
        return machine
    }

    @Test func `gives its place away step by step`() {
        let machine = machine(after: Self.wholeWay)
        #expect(machine.isSucceeded && machine.obstacle == Self.busy)
    }

    @Test(arguments: 3..<wholeWay.count)
    func `a successor that dies on its way gives everything back`(after steps: Int) {
        let machine = machine(after: Self.way(steps) + [Self.parted, Self.gone, Self.back])
        #expect(machine.obstacle == nil)
    }

    /// As one that was stopped, or waits for a disk: nothing of the store is answered meanwhile, and nothing told why.
    @Test(arguments: 3..<wholeWay.count)
    func `one that is given up and does not end is named, and awaited all the same`(after steps: Int) {
        let named = Step([.log(.lingers(process: 42))]) { $0.timePassed() }
        let machine = machine(after: Self.way(steps) + [Self.parted, named, Self.gone, Self.back])
        #expect(machine.obstacle == nil)
    }

    @Test func `that the place is back is said when the next one may come, and not before`() {
        let refused = Step([.refuse(Self.busy)]) { $0.connected(obstacle: nil) }
        let parting = Self.way(4) + [Self.parted, refused, Self.gone, refused]
        #expect(!parting.contains { $0.actions.contains(.log(.rolledBack)) })
        #expect(Self.back.actions.last == .log(.rolledBack))
        _ = machine(after: parting + [Self.back, Self.connected])
    }

    @Test(arguments: 1...2)
    func `one that dies before the store was asked for takes nothing along`(after steps: Int) {
        let closed = Step([.clear, .forgetConnection, .log(.rolledBack)]) { $0.closed(isDrained: false) }
        var machine = machine(after: Self.way(steps) + [closed])
        #expect(machine.obstacle == nil && machine.gone() == [])
        #expect(machine.connected(obstacle: nil) == Self.connected.actions)
    }

    @Test func `one that dies later gives everything back, and another one may come`() {
        let closed = Step([.clear, .wake(after: HandoverMachine.farewell)]) { $0.closed(isDrained: false) }
        var machine = machine(after: Self.wholeWay + [closed, Self.gone, Self.back] + Self.way(4))
        #expect(machine.received(.ready) == [.admit(false), .suspendAccepting(step: 3)])
    }

    @Test(arguments: 1..<wholeWay.count)
    func `one that is slow loses the connection`(after steps: Int) {
        var machine = machine(after: Self.way(steps))
        #expect(machine.timePassed() == [.close])
    }

    @Test(arguments: 1..<wholeWay.count)
    func `a node that is to end gives its place to nobody`(after steps: Int) {
        #expect(machine(after: Self.way(steps)).terminated() == [.close])
    }

    @Test func `where nobody is about to take it, its end is no business of a take-over's`() {
        let parting = Self.way(4) + [Self.parted]
        for steps in [[], Self.wholeWay, parting, parting + [Self.gone]] {
            #expect(machine(after: steps).terminated() == [])
        }
    }

    @Test func `what was done in a step that was given up counts for no later one`() {
        let again = Self.way(4)
        let half = Self.way(6)
        var machine = machine(after: half + [Self.parted, Self.gone, Self.back] + again)
        #expect(machine.received(.ready) == [.admit(false), .suspendAccepting(step: 2)])
        #expect(machine.workerDone(step: 1) == [] && machine.workerDone(step: 2) == [] && machine.workerDone(step: 1) == [])
        #expect(machine.workerDone(step: 2) == [.relay, .suspendReading(step: 3)])
    }

    @Test func `one that has closed and lives keeps what it has: we end`() {
        let closed = Step([.clear, .wake(after: HandoverMachine.farewell)]) { $0.closed(isDrained: false) }
        var machine = machine(after: Self.wholeWay + [closed])
        #expect(machine.timePassed() == [.abandon])
        #expect(machine.gone() == [] && machine.obstacle == Self.busy)
    }

    @Test func `the successor's word about our sessions is done`() {
        var machine = machine(after: Self.wholeWay)
        #expect(machine.received(.end(Self.lease, .takenOver)) == [.end(Self.lease, .takenOver)])
        guard let target = HTTPRequestTarget("/whip") else { preconditionFailure("a path") }
        let request = HandedRequest(HTTPRequest(method: .delete, target: target, rawTarget: "/whip"))
        #expect(machine.received(.request(number: 3, request)) == [.answer(number: 3, request)])
        #expect(machine.predecessorsChanged() == [.tellPredecessors])
        #expect(machine.drained() == [.send(.left)])
    }

    @Test func `a node that goes away takes this process along`() {
        var machine = machine(after: Self.wholeWay)
        #expect(machine.received(.terminate) == [.terminate])
        #expect(machine.closed(isDrained: false) == [.clear, .terminate])
        #expect(machine.gone() == [])
    }

    @Test func `when the last session has ended the successor's end is nothing to come back from`() {
        var machine = machine(after: Self.wholeWay)
        #expect(machine.closed(isDrained: true) == [.clear, .terminate])
    }

    @Test func `whose successor has one itself has nobody to come back for`() {
        var machine = machine(after: Self.wholeWay)
        #expect(machine.received(.succeeded(true)) == [])
        #expect(machine.received(.succeeded(false)) == [] && machine.received(.succeeded(true)) == [])
        #expect(machine.closed(isDrained: false) == [.clear, .abandon])
    }

    @Test func `a store that cannot be opened yet is asked again`() {
        let failed = Step([.log(.storeNotResumed(.overloaded)), .wake(after: HandoverMachine.pause)]) {
            $0.storeResumed(.failure(.overloaded))
        }
        let retried = Step(Self.resuming) { $0.timePassed() }
        _ = machine(after: Self.way(4) + [Self.parted, Self.gone, failed, retried, Self.back])
    }

    @Test func `only one successor at a time, and none where something is in the way`() {
        var machine = machine(after: [])
        #expect(machine.connected(obstacle: "it is draining") == [.refuse("it is draining")])
        _ = machine.connected(obstacle: nil)
        #expect(machine.connected(obstacle: nil) == [.refuse(Self.busy)])
    }

    @Test func `one of another version hears so, and may go`() {
        var machine = machine(after: [Self.connected])
        let words = "it speaks another version of the take-over: drain this process instead"
        let hello = HandoverMessage.hello(version: HandoverMessage.version + 1, process: 1, takesPlacements: true)
        #expect(machine.received(hello) == [.send(.refused(words))])
    }

    /// It would close at a message that it does not know.
    @Test func `a successor that is too old to know of placements is told of none`() throws {
        let hello = try JSONDecoder().decode(HandoverMessage.self, from: Data(#"{"hello":{"version":5,"process":42}}"#.utf8))
        let greeted = Step.hears(hello, Self.greeted.actions)
        let nobodyReads = Step(Self.nobodyReads.actions.filter { $0 != .tellPlacements }, Self.nobodyReads.input)
        let between = Array(Self.way(8).dropFirst(2))
        let machine = machine(after: [Self.connected, greeted] + between + [nobodyReads])
        #expect(machine.isSucceeded)
    }

    @Test(arguments: 1...wholeWay.count)
    func `what is out of turn ends the connection`(after steps: Int) {
        let before = machine(after: Self.way(steps))
        let messages: [HandoverMessage] = [
            .prepare, .ready, .yours, .left, .terminate, .succeeded(true), .end(Self.lease, .takenOver), .prepared,
        ]
        let closing = messages.filter { message in
            var machine = before
            return machine.received(message) == [.close]
        }
        let expected = [8, 7, 8, 7, 8, 8, 8, 8, 5][steps - 1]
        #expect(closing.count == expected, "\(closing)")
    }
}
