import Wire

@testable import Cluster

/// A node that waits for the lease of a pair, which another node has.
struct JointWatch {
    var joint: Int
    var node: Int
    var watch: Int
    var began: Int64
}

/// Pairs of encoders that are one participant: the nodes of both halves want its lease, and one has it (`JoinedClaim`).
extension Simulation {
    /// Both halves of every pair get what stands for the pair at their nodes.
    func makeJoints() {
        for backup in encoders.indices where backup % 10 == 5 {
            for half in [backup - 1, backup] {
                var joint = encoders[half]
                joint.key = LeaseKey(stageID: joint.key.stageID, participantID: "v\(backup)")
                joint.half = half
                joints[half] = encoders.count
                encoders.append(joint)
            }
        }
    }

    /// An encoder has media of its own, and a pair that of the half which is at its node.
    func hasMedia(_ encoder: Int) -> Bool {
        guard let half = encoders[encoder].half else { return true }
        return encoders[half].isLive && encoders[half].node == encoders[encoder].node
    }

    /// Its half came to a node, which goes on with the pair where it still has it, and asks for its lease otherwise.
    func join(_ joint: Int, at node: Int) {
        encoders[joint].node = node
        let key = encoders[joint].key
        guard let holder = holders[key, default: []].first(where: { $0.node == node }) else { return claim(joint, false) }
        if sessions[holder]?.encoder == nil { give(holder, to: joint) }
    }

    private func give(_ holder: Holder, to joint: Int) {
        sessions[holder]?.encoder = joint
        sessions[holder]?.silentSince = nil
        (encoders[joint].isLive, encoders[joint].liveSince) = (true, now)
    }

    private func other(_ joint: Int) -> Int? {
        encoders[joint].half.flatMap { joints[$0 % 10 == 5 ? $0 - 1 : $0 + 1] }
    }

    /// Its node has the pair no longer but for the other half's sake; ten seconds later it gives the lease back.
    func lostHalf(_ half: Int) {
        guard let joint = joints[half], encoders[joint].isLive else { return }
        encoders[joint].isLive = false
        let mine = holders[encoders[joint].key, default: []].first { sessions[$0]?.encoder == joint }
        guard let mine else { return }
        if let other = other(joint), encoders[other].node == mine.node, hasMedia(other) { return give(mine, to: other) }
        sessions[mine]?.encoder = nil
        // What brings nothing says so, and need not be waited for.
        sessions[mine]?.silentSince = 0
        queue.put(.abandoned(mine), at: now + 10 * Self.second)
    }

    /// With a node that dies the pair goes to that of the other half, within three seconds.
    func lostNode(ofJoint joint: Int) {
        encoders[joint].isLive = false
        guard let other = other(joint), hasMedia(other), encoders[other].node != encoders[joint].node else { return }
        let node = nodes[encoders[other].node]
        if node.isAlive, !node.isCut { queue.put(.joinedAgain(encoders[joint].key), at: now + 3 * Self.second) }
    }

    /// The other node is asked four times a second; silent for a second, it has nothing, or is not there.
    func look(_ watch: JointWatch) {
        let (joint, node) = (watch.joint, watch.node)
        guard nodes[node].isAlive, let progress = nodes[node].watches[watch.watch] else { return }
        let silence = progress.map { now - max($0.nanoseconds, 0) }
        let isWanted = hasMedia(joint) && encoders[joint].node == node && !encoders[joint].isLive
        if isWanted, let silence, silence < Self.second, now - watch.began < 20 * Self.second {
            return queue.put(.lookAtJoint(watch), at: now + Self.second / 4)
        }
        nodes[node].watches[watch.watch] = nil
        with(node) { machine in
            machine.watchEnded(watch.watch)
            return []
        }
        if isWanted { claim(joint, silence.map { $0 >= Self.second } ?? false) }
    }

    // MARK: - What must hold

    /// Routers go by generations: none comes twice, and none after a higher one.
    func checkGeneration(_ lease: LeaseIdentity) {
        if lease.generation <= generations[lease.key, default: 0] {
            violated("\(lease.key.participantID) has \(lease.generation) after \(generations[lease.key, default: 0])")
        }
        generations[lease.key] = max(lease.generation, generations[lease.key, default: 0])
    }

    /// A pair is taken from a node that says nothing, or could not; from another one where three messages in a row were lost.
    func judgeJoint(_ holder: Holder) {
        report.joinedElsewhere += 1
        if nodes[holder.node].readsSince < now - 10 * Self.second { report.joinedInVain += 1 }
    }

    /// Three seconds after a node's death; where the other half's has died meanwhile nobody can go on.
    func checkJointAgain(_ key: LeaseKey) {
        let isThere = joints.contains { half, joint in
            encoders[joint].key == key && encoders[half].isLive && encoders[half].liveSince < now - 3 * Self.second
        }
        if isThere { checkJoint(key) }
    }

    private func checkJoint(_ key: LeaseKey) {
        let lives = holders[key, default: []].contains { sessions[$0]?.encoder != nil }
        if !lives { violated("nobody goes on with \(key.participantID)") }
    }

    /// Whoever has a half has the pair, or knows who does.
    func checkJointsAtTheEnd() {
        for (half, joint) in joints where encoders[half].isLive && encoders[half].liveSince < now - 6 * Self.second {
            let key = encoders[joint].key
            let sets = Set((server.stages[key.stageID]?.leases ?? [:]).values.map(\.set))
            if sets.count < 12 { checkJoint(key) }
        }
    }
}
