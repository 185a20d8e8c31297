import TestSupport
import Wire

@testable import Cluster

/// Deaths, and what must not look like one.
extension Simulation.Plan {
    /// A node dies every few seconds while others stand still for two.
    /// - Parameter silences: whether the server is silent too, three seconds at a time.
    static func deaths(seed: UInt64, silences: Bool) -> Simulation.Plan {
        var plan = Simulation.Plan(nodes: 50, encoders: 1_000, seed: seed)
        var random = SplitMix64(seed: seed)
        plan.story = []
        // Past the grace with which processes begin.
        for turn in 0..<12 {
            let start = 20 + 7 * Double(turn)
            func moment() -> Double { start + Double.random(in: 0...3, using: &random) }
            plan.story += [(.death, moment()), (.stall, moment()), (.stall, moment())]
            // After a silence nobody takes anything of others for fifteen seconds: there are few, and moments between them.
            if silences, turn % 3 != 1 { plan.story.append((turn == 5 ? .silence : .hold, moment())) }
        }
        plan.length = 150
        // As long as others may be as slow to return, nobody is buried.
        if silences { plan.burial = nil }
        return plan
    }
}

extension Simulation {
    /// Where an event happens; nil: at the server, with an encoder on its way, or nowhere.
    func node(of event: Event) -> Int? {
        switch event {
        case .timer(let node), .message(let node, _), .connected(let node), .disconnected(let node): node
        case .answer(let node, _, _, _): node
        case .claim(let encoder, _), .look(let encoder, _, _): encoders[encoder].node
        case .lookAtJoint(let watch): watch.node
        case .abandoned(let holder): holder.node
        case .arrives, .joinedAgain, .fenced, .buried, .happens: nil
        }
    }

    /// One node in ten stands still for two seconds. Half of its encoders do not wait, and look for another one.
    func stallSome() {
        // Once it goes on, it has a moment to say that it lives.
        for node in nodes.indices where nodes[node].isAlive && nodes[node].stallEnds < now - Self.second && chance(of: 10) {
            nodes[node].stallEnds = now + 2 * Self.second
            nodes[node].readsSince = max(nodes[node].readsSince, nodes[node].stallEnds)
            for holder in sessions.keys.filter({ $0.node == node }).sorted() where chance(of: 2) { move(holder) }
        }
    }

    /// An encoder is live; of one whose node died it is told how long that took, where nobody else has its key.
    func noteReturn(of encoder: Int) {
        guard let death = encoders[encoder].lostNode.take() else { return }
        if !hasRival(encoder) { report.absences.append(now - death) }
    }

    func hasRival(_ encoder: Int) -> Bool {
        encoders[encoder].isImpostor || (encoder + 1 < encoders.count && encoders[encoder + 1].isImpostor)
    }

    /// Nothing is taken as a dead node's but of one that is dead, or that the server cannot have heard.
    func checkDeath(_ call: ClusterCall, _ answer: ClusterAnswer) {
        guard case .claim(_, let claim) = call, case .claimed(.granted(let grant)) = answer,
            let displaced = grant.displaced, displaced.lease.lease.generation == claim.ofDeadOwner,
            let owner = Int(displaced.node.dropFirst())
        else { return }
        report.takenFromDead += 1
        if nodes[owner].isAlive, !nodes[owner].isUnheard {
            report.takenFromLiving += 1
            violated("\(claim.key.participantID) was taken from \(displaced.node), which lives")
        }
    }
}

extension SimulationReport {
    /// In seconds; a share of the encoders whose node died were gone for no longer.
    func absence(atShare share: Double) -> Double {
        let sorted = absences.sorted()
        return sorted.isEmpty ? 0 : Double(sorted[Int(Double(sorted.count - 1) * share)]) / 1e9
    }
}
