import Admission
import Wire

@testable import Cluster

/// Encoders, their claims and their sessions.
extension Simulation {
    func claim(_ encoder: Int, _ takesOver: Bool) {
        guard !encoders[encoder].isLive, !encoders[encoder].hasGone, hasMedia(encoder) else { return }
        if !nodes[encoders[encoder].node].isAlive { encoders[encoder].node = someNode() }
        let (node, key) = (encoders[encoder].node, encoders[encoder].key)
        if nodes[node].claims.values.contains(encoder) { return }
        lastClaim += 1
        nodes[node].claims[lastClaim] = encoder
        let claim = NodeClaim(
            number: lastClaim, key: key, set: encoders[encoder].set, credential: key.participantID, takesOver: takesOver,
            isToken: false)
        with(node) { $0.claim(claim, moment) }
    }

    func perform(_ actions: [ClusterAction], at node: Int) {
        for action in actions {
            switch action {
            case .call(let call): ask(call, from: node)
            case .send(let message, let other): send(message, to: other, from: node)
            case .granted(let claim, let lease, _): granted(claim, lease, at: node)
            case .heldHere(let claim): retry(claim, at: node)
            case .heldElsewhere(let claim, let watch, let progress): held(claim, watch, progress, at: node)
            case .refused(let claim, let reason):
                if reason == .full { report.refusedFull += 1 }
                retry(claim, at: node)
            case .progressed(let watch, let time): nodes[node].watches[watch] = .some(time)
            case .gone(let watch): nodes[node].watches[watch] = .some(nil)
            case .end(let lease, let end): ended(Holder(node: node, lease: lease), end)
            case .revive(let lease, let generation): revived(Holder(node: node, lease: lease), generation)
            case .inspect(let question): inspect(question, at: node)
            case .closed(_, let leases): for lease in leases { closed(lease.lease) }
            case .sessionEnded(let stage, _): report.note("over \(stage)")
            case .looked, .nodesChanged: break
            }
        }
    }

    private func granted(_ claim: Int, _ lease: LeaseIdentity, at node: Int) {
        guard let encoder = nodes[node].claims.removeValue(forKey: claim) else { return }
        let holder = Holder(node: node, lease: lease)
        guard encoders[encoder].node == node, !encoders[encoder].isLive, hasMedia(encoder) else {
            return with(node) { $0.release(lease) }
        }
        checkGeneration(lease)
        report.granted += 1
        report.note("granted \(lease.key.participantID) \(node) \(lease.generation)")
        for other in holders[lease.key, default: []].sorted() where other.node == node { forget(other) }
        for other in holders[lease.key, default: []].sorted() { queue.put(.fenced(other, since: now), at: now + 4 * Self.second) }
        (encoders[encoder].isLive, encoders[encoder].liveSince) = (true, now)
        noteReturn(of: encoder)
        sessions[holder] = Session(encoder: encoder, published: lease)
        started(lease)
        holders[lease.key, default: []].insert(holder)
        if let joint = joints[encoder] { join(joint, at: node) }
    }

    private func held(_ claim: Int, _ watch: Int, _ progress: MonotonicTime, at node: Int) {
        guard let encoder = nodes[node].claims.removeValue(forKey: claim) else { return }
        nodes[node].watches[watch] = .some(progress)
        if encoders[encoder].half != nil { return look(JointWatch(joint: encoder, node: node, watch: watch, began: now)) }
        queue.put(.look(encoder: encoder, watch: watch, began: now), at: now + Self.second / 4)
    }

    /// Refused as soon as the incumbent makes progress, in its place once it was silent for two seconds (docs/design.md 7.3).
    func look(_ encoder: Int, _ watch: Int, _ began: Int64) {
        let node = encoders[encoder].node
        guard nodes[node].isAlive, let progress = nodes[node].watches[watch], !encoders[encoder].isLive else { return }
        let isOver = progress == nil
        if let progress, progress.nanoseconds <= began, now - progress.nanoseconds < 2 * Self.second {
            queue.put(.look(encoder: encoder, watch: watch, began: began), at: now + Self.second / 4)
            return
        }
        nodes[node].watches[watch] = nil
        with(node) { machine in
            machine.watchEnded(watch)
            return []
        }
        if let progress, progress.nanoseconds > began {
            queue.put(.claim(encoder: encoder, takesOver: false), at: now + within(10, 15))
        } else {
            if !isOver { report.takenOver += 1 }
            claim(encoder, !isOver)
        }
    }

    private func retry(_ claim: Int, at node: Int) {
        guard let encoder = nodes[node].claims.removeValue(forKey: claim) else { return }
        queue.put(.claim(encoder: encoder, takesOver: false), at: now + within(2, 4))
    }

    private func inspect(_ question: NodeMessage.Question, at node: Int) {
        let session = sessions[Holder(node: node, lease: question.lease)]
        let age = session.map { Duration.nanoseconds(now - ($0.silentSince ?? now)) }
        with(node) { $0.inspected(question, age.map { .live(age: $0) } ?? .gone) }
    }

    private func ended(_ holder: Holder, _ end: LeaseEnd) {
        guard let session = sessions[holder] else { return }
        report.note("ended \(holder.lease.key.participantID) \(holder.node) \(end)")
        judge(holder, session, end)
        release(holder)
        if let encoder = session.encoder {
            encoders[encoder].isLive = false
            lostHalf(encoder)
            queue.put(.claim(encoder: encoder, takesOver: false), at: now + within(5, 10))
        }
    }

    func release(_ holder: Holder) {
        guard sessions[holder] != nil else { return }
        forget(holder)
        with(holder.node) { $0.release(holder.lease) }
    }

    /// - Parameter writes: its node lives and tells the history.
    func forget(_ holder: Holder, writes: Bool = true) {
        if let session = sessions.removeValue(forKey: holder), writes { stopped(session.published) }
        holders[holder.lease.key]?.remove(holder)
    }

    private func revived(_ holder: Holder, _ generation: UInt64) {
        guard let session = sessions[holder] else { return }
        report.revived += 1
        stopped(session.published)
        let published = LeaseIdentity(holder.lease.key, generation: generation)
        checkGeneration(published)
        sessions[holder]?.published = published
        started(published)
    }

    // MARK: - What becomes of it in the history (participant.lua, event.lua, closed.lua)

    private func isTooLate(_ lease: LeaseIdentity) -> Bool { lease.generation <= closed[lease.key, default: 0] }

    private func started(_ lease: LeaseIdentity) {
        if isTooLate(lease) { return }
        if let last = newest[lease.key], open.contains(last) { overtaken[lease.key] = last }
        newest[lease.key] = lease
        open.insert(lease)
    }

    private func stopped(_ lease: LeaseIdentity) { if !isTooLate(lease) { open.remove(lease) } }

    private func closed(_ lease: LeaseIdentity) {
        report.closed += 1
        report.note("closed \(lease.key.participantID) \(lease.generation)")
        closed[lease.key] = max(lease.generation, closed[lease.key, default: 0])
        for entry in [overtaken[lease.key], newest[lease.key]] {
            if let entry, entry.generation <= lease.generation { open.remove(entry) }
        }
    }
}
