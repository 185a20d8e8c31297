import Admission
import EventLoop
import Foundation
import Refusals
import StageHub
import Store
import Testing
import Wire

@testable import Replication

/// Starts, stops, disconnects, takeovers, deleted stages, ends and returns in any order: nothing is left over.
@Suite("Replication in random walks")
struct RandomWalkTests {
    private static let stages = ["A", "B", "C", "D"]
    private static let participants = ["p", "q"]
    /// `STAGEDOOR_WALKS=200` for the long form. Between two rounds real windows pass, and leases are given back.
    private static let rounds = ProcessInfo.processInfo.environment["STAGEDOOR_WALKS"].flatMap { Int($0) } ?? 6
    private static let steps = 60

    @Test(.timeLimit(.minutes(20))) func `no lease, place or event is left over`() throws {
        let gateway = try SmallGateway(stages: Self.stages)
        walk(over: [gateway])
        #expect(unbalanced(gateway.events(), isOrdered: true) == [])
    }

    @Test(.timeLimit(.minutes(20))) func `nor is one on two nodes, whichever is asked`() throws {
        let platform = try SmallPlatform(2)
        for stage in Self.stages { platform.nodes[0].makeStage(stage) }
        walk(over: platform.nodes)
        // Nodes tell the history each for itself: what one ended and the other began may be told in
        // any order, and a little later.
        var faults: [String] = []
        platform.nodes[0].until("every begin has its end") {
            faults = unbalanced(platform.nodes[0].events(), isOrdered: false)
            return faults == []
        }
        #expect(faults == [])
        platform.close()
    }

    private func walk(over nodes: [SmallGateway]) {
        var random = SplitMix(20)
        for round in 0..<Self.rounds {
            for _ in 0..<Self.steps { step(nodes[random.next(nodes.count)], &random) }
            settle(nodes)
            #expect(nodes.flatMap(\.replicas).isEmpty, "round \(round)")
            checkPlaces(nodes[0])
        }
    }

    private func step(_ gateway: SmallGateway, _ random: inout SplitMix) {
        let participant = Self.participants[random.next(Self.participants.count)]
        let (stage, other) = (Self.stages[random.next(4)], Self.stages[random.next(4)])
        switch random.next(12) {
        case 0, 1, 2: gateway.publish(participant, on: stage, takeOver: random.next(4) == 0)
        case 3, 4, 5:
            if stage != other { gateway.start(SmallGateway.key(participant, stage, other), window: random.next(2)) }
        case 6: gateway.stop { $0.participantID == participant && $0.sourceStageARN == SmallGateway.arn(stage) }
        case 7:
            let publishes = gateway.publishes
            if !publishes.isEmpty { gateway.end(publishes[random.next(publishes.count)]) }
        case 8: disconnect(participant, stage, gateway)
        case 9: if random.next(3) == 0 { gateway.deleteStage(stage) }
        case 10: gateway.makeStage(stage)
        default: gateway.turn(.milliseconds(Int64(random.next(40))))
        }
        gateway.endWhoShall()
    }

    private func disconnect(_ participant: String, _ stage: String, _ gateway: SmallGateway) {
        let who = StageParticipant(participant, of: SmallGateway.arn(stage))
        gateway.stop { $0.source == who || $0.destination == who }
        gateway.leases.end(who, Refusal(.participantDisconnected))
    }

    /// Everybody leaves, and every window passes.
    private func settle(_ nodes: [SmallGateway]) {
        for node in nodes { for publish in node.publishes { node.end(publish) } }
        let gateway = nodes[0]
        let everybody = Self.stages.flatMap { stage in
            Self.participants.map { StageParticipant($0, of: SmallGateway.arn(stage)) }
        }
        gateway.until("all leases are given back, and no replication runs") {
            gateway.live(everybody).isEmpty
                && nodes.allSatisfy { node in
                    node.replicas.isEmpty && !node.store.state.replications.values.contains { $0.state == .active }
                }
        }
        // Starts that nobody answers wait for longer than this test does.
        gateway.stop { _ in true }
        for stage in Self.stages { gateway.makeStage(stage) }
    }

    /// Twelve publishers come onto each stage, and no thirteenth.
    private func checkPlaces(_ gateway: SmallGateway) {
        for stage in Self.stages {
            let taken = (0..<13).compactMap { gateway.publish("place\($0)", on: stage) }
            #expect(taken.count == 12, "stage \(stage)")
            for publish in taken { gateway.end(publish) }
        }
    }

    /// What begins ends, once, in each session.
    /// - Returns: what does not.
    private func unbalanced(_ events: [ParticipantEvent], isOrdered: Bool) -> [String] {
        struct Subject: Hashable {
            var session: String
            var participant: String
            var destination: String
        }
        let ends: [ParticipantEvent.Name: ParticipantEvent.Name] = [
            .joined: .left, .publishStarted: .publishStopped, .replicationStarted: .replicationStopped,
        ]
        var faults: [String] = []
        for (begin, end) in ends {
            var open: [Subject: Int] = [:]
            var takesTurns = true
            for event in events where event.name == begin || event.name == end {
                let subject = Subject(
                    session: begin == .replicationStarted ? "" : event.sessionID, participant: event.participantID,
                    destination: begin == .replicationStarted
                        ? event.stageARN + (event.destination?.stageARN ?? "") : event.stageARN)
                open[subject, default: 0] += event.name == begin ? 1 : -1
                if !(0...1).contains(open[subject] ?? 0) { takesTurns = false }
            }
            if isOrdered, !takesTurns { faults.append("\(begin) and \(end) do not take turns") }
            for (subject, count) in open where count != 0 { faults.append("\(count) \(begin) too many of \(subject)") }
        }
        if !events.contains(where: { $0.name == .replicationStarted }) { faults.append("nothing was replicated") }
        if !events.contains(where: \.isReplica) { faults.append("no replica was seen") }
        return faults
    }
}
