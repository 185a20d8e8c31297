import Admission
import Refusals
import Wire

@testable import Cluster

/// What must hold, whatever happens.
extension Simulation {
    func violated(_ what: String) {
        if report.violations.count < 20 { report.violations.append("\(Double(now) / 1e9) s: \(what)") }
    }

    /// Never 13 on one primary. Those that were told to end, after others came while their node was cut, do not count.
    func checkRoom(after call: ClusterCall) {
        let stage: String
        switch call {
        case .claim(_, let claim): stage = claim.key.stageID
        case .renew(let name, _): stage = name
        default: return
        }
        guard let leases = server.stages[stage]?.leases, leases.count > 12 else { return }
        let sets = Set(leases.values.filter { server.now < $0.expires && $0.ending == nil }.map(\.set))
        if sets.count > 12 { violated("\(sets.count) publishers on \(stage) after \(call)") }
    }

    /// Who was displaced has read so, once it could: at its next renewal at the latest.
    func checkFence(_ holder: Holder, _ since: Int64) {
        // Where the newer one has gone again, the older may go on.
        let hasNewer = holders[holder.lease.key, default: []].contains { $0.lease.generation > holder.lease.generation }
        guard sessions[holder] != nil, nodes[holder.node].isAlive, hasNewer else { return }
        let canRead = now - 4 * Self.second >= max(nodes[holder.node].readsSince, since)
        guard canRead else {
            queue.put(.fenced(holder, since: since), at: now + 4 * Self.second)
            return
        }
        violated("\(holder.lease.key.participantID) is still live at node \(holder.node)")
    }

    /// Twelve seconds after a node has died nothing is left of it.
    func checkGhosts(of node: Int) {
        let name = "n\(node)"
        for (stage, content) in server.stages {
            for (participant, lease) in content.leases where lease.node == name {
                violated("ghost \(participant) of \(name) on \(stage)")
            }
        }
        if server.alive[name] != nil { violated("\(name) is not buried") }
    }

    /// Media that flows ends only when somebody else has taken its place, or for the newest on a stage that has too many.
    func judge(_ holder: Holder, _ session: Session, _ end: LeaseEnd) {
        let key = holder.lease.key
        switch end {
        case .takenOver where session.encoder.map { encoders[$0].half != nil } == true: judgeJoint(holder)
        case .takenOver:
            if let encoder = session.encoder, !hasRival(encoder) {
                violated("\(key.participantID) was taken from an encoder that nobody rivals")
            }
        case .disconnected(let refusal):
            guard refusal.code == .stageFull else { return violated("\(key.participantID) ended by \(refusal)") }
            report.surplus += 1
            let leases = (server.stages[key.stageID]?.leases ?? [:]).values
            // A pair is as old as its older half.
            let ages = Dictionary(leases.map { ($0.set, $0.since) }, uniquingKeysWith: min)
            let own = server.stages[key.stageID]?.leases[key.participantID].flatMap { ages[$0.set] } ?? 0
            let isEarly = leases.contains { $0.ending == nil && server.now < $0.expires && ages[$0.set, default: 0] > own }
            if isEarly { violated("\(key.participantID) had to go before newer ones") }
        }
    }

    /// In the end everybody who can publish does, once, and every stage that keeps somebody out is full.
    func checkTheEnd() {
        for (key, holders) in holders where holders.count > 1 { violated("\(holders.count) sessions of \(key.participantID)") }
        checkJointsAtTheEnd()
        for (encoder, content) in encoders.enumerated()
        where !content.isLive && !content.isImpostor && !content.hasGone && content.half == nil {
            let rival = encoder + 1 < encoders.count && encoders[encoder + 1].isImpostor && encoders[encoder + 1].isLive
            let sets = Set((server.stages[content.key.stageID]?.leases ?? [:]).values.map(\.set))
            if !rival && sets.count < 12 { violated("\(content.key.participantID) does not publish though there is room") }
        }
        report.flowing = sessions.count
        // Every PUBLISH_STARTED has its PUBLISH_STOPPED, but of those that publish.
        for lease in open.symmetricDifference(sessions.values.map(\.published)) {
            violated("the history is wrong about \(lease.key.participantID) \(lease.generation)")
        }
        for (holder, session) in sessions where session.encoder != nil {
            let lease = server.stages[holder.lease.key.stageID]?.leases[holder.lease.key.participantID]
            if lease?.node != "n\(holder.node)" { violated("the server does not know \(holder.lease.key.participantID)") }
        }
    }
}
