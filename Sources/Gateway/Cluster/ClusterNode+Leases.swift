import Admission
import EventLoop
import Refusals
import Store
import Wire

/// Claims and leases: between the machine's numbers and who waits behind them.
extension ClusterNode {
    func follow(_ action: ClusterAction) {
        switch action {
        case .granted(let number, let lease, let session): granted(number, lease, session)
        case .heldHere(let number): heldHere(number)
        case .heldElsewhere(let number, let watch, let progress): heldElsewhere(number, watch, progress)
        case .refused(let number, let reason): pending.claims.removeValue(forKey: number)?.reply(.refused(reason.refusal))
        case .progressed(let watch, let time): pending.holders[watch]?.holder?.progressed(at: time)
        case .gone(let watch): pending.holders[watch]?.holder?.ended()
        case .end(let lease, let end): holder(of: lease)?.end(end.reason)
        case .revive(let lease, let generation): revive(lease, generation)
        case .inspect(let question): inspect(question)
        case .closed(let stage, let ended): close(ended, ofStage: stage)
        case .sessionEnded(let stage, let session):
            let arn = leases.platform.stageARN(stage)
            leases.platform.record([.sessionEnded(stageARN: arn, sessionID: session, at: leases.platform.wallNow())])
        case .looked(let number, let view): pending.views.removeValue(forKey: number)?(view)
        case .call, .send, .nodesChanged: break
        }
    }

    private func granted(_ number: Int, _ identity: LeaseIdentity, _ session: SharedSession) {
        guard let claim = pending.claims.removeValue(forKey: number) else { return }
        let lease = PublishLease(
            participantID: identity.key.participantID, stageID: identity.key.stageID, stageSessionID: session.id,
            generation: identity.generation)
        let entry = LocalLeases.Entry(lease: lease, grant: claim.grant, holder: claim.holder)
        let displaced = leases.local.insert(
            entry, claim.ingestProtocol, session: StageSession(stageARN: claim.grant.stageARN, session))
        displaced?.end(.takenOver)
        // Looked at when the lease stands: what is committed from now on ends it.
        if let refusal = leases.refusal(of: claim.grant) {
            leases.local.release(lease)
            claim.reply(.refused(refusal))
            return perform(machine.release(identity, loop.now))
        }
        claim.reply(.granted(lease))
    }

    private func heldHere(_ number: Int) {
        guard let claim = pending.claims.removeValue(forKey: number) else { return }
        let holder = leases.local.holder(ofParticipant: claim.grant.participantID, stageID: claim.grant.stageID)
        if let holder { return claim.reply(.held(by: holder)) }
        // Its session has just given the lease back, which is on its way to us: do it now.
        let key = LeaseKey(stageID: claim.grant.stageID, participantID: claim.grant.participantID)
        perform(machine.releaseHeld(key, loop.now))
        perform(machine.claim(pending.add(claim), loop.now))
    }

    private func heldElsewhere(_ number: Int, _ watch: Int, _ progress: MonotonicTime) {
        guard let claim = pending.claims.removeValue(forKey: number) else { return machine.watchEnded(watch) }
        let sender = leases.control.withLock { $0 }
        let participant = StageParticipant(claim.grant.participantID, of: claim.grant.stageARN)
        let holder = ElsewhereHolder(progress: progress) { reason in
            // Taking over is claimed, not said.
            if case .disconnected(let refusal) = reason { _ = sender?.send(.end(participant, refusal)) }
        } onForgotten: {
            _ = sender?.send(.watchEnded(watch))
        }
        pending.holders[watch] = PendingReplies.WeakHolder(holder: holder)
        claim.reply(.held(by: holder))
    }

    private func holder(of lease: LeaseIdentity) -> (any LeaseHolder)? {
        leases.local.holder(
            ofParticipant: lease.key.participantID, stageID: lease.key.stageID, generation: lease.generation)
    }

    private func revive(_ lease: LeaseIdentity, _ generation: UInt64) {
        let entry = leases.local.entries.first { LeaseIdentity($0.lease) == lease }
        if let entry { leases.local.revive(entry.lease, generation: generation) }
    }

    private func inspect(_ question: NodeMessage.Question) {
        let holder = holder(of: question.lease)
        let isLive = holder.map { !$0.hasEnded } ?? false
        let age = holder.map { max(.zero, loop.now - $0.lastProgress) } ?? .zero
        perform(machine.inspected(question, isLive ? .live(age: age) : .gone))
    }

    private func close(_ ended: [EndedLease], ofStage stage: String) {
        let (arn, now) = (leases.platform.stageARN(stage), leases.platform.wallNow())
        leases.platform.record(
            ended.map { entry in
                .closed(
                    stageARN: arn, sessionID: entry.sessionID, participantID: entry.lease.key.participantID,
                    generation: entry.lease.generation, at: now)
            })
    }

    // MARK: - What is asked about stages

    func look(at arns: Set<String>, _ reply: @escaping @Sendable ([String: ClusterAnswer.StageView]?) -> Void) {
        let gathering = Gathering(count: arns.count, reply)
        for arn in arns {
            let number = pending.addView { gathering.add($0, of: arn) }
            perform(machine.look(at: ResourceName.identifier(inARN: arn), number: number, begins: false))
        }
    }

    func refused(_ grant: PublishGrant, _ ingestProtocol: IngestProtocol, _ code: String) {
        let number = pending.addView { [unowned self] view in
            guard let view, let session = view.session else { return }
            let isLive = view.participants.contains(grant.participantID)
            let isNew = leases.local.refused(
                grant, ingestProtocol, errorCode: code, session: StageSession(stageARN: grant.stageARN, session), isLive: isLive)
            if isNew { perform([.call(.announce(stage: grant.stageID, sessionID: session.id))]) }
        }
        perform(machine.look(at: grant.stageID, number: number, begins: true))
    }
}

// MARK: - Words

extension LeaseIdentity {
    init(_ lease: PublishLease) {
        self.init(LeaseKey(stageID: lease.stageID, participantID: lease.participantID), generation: lease.generation)
    }
}

extension LeaseEnding {
    init(_ refusal: Refusal) { self.init(code: refusal.code.number, words: refusal.sentence) }
}

extension ClusterAction.LocalEnd {
    /// Without words it is the surplus that a renewal found.
    private static let surplus =
        "The stage has more publishers than it may have, which came to light after a failover: the newest had to go."

    var reason: LeaseEnd {
        guard case .ending(let ending) = self else { return .takenOver }
        let code = RefusalCode(rawValue: ending.code) ?? .participantDisconnected
        return .disconnected(Refusal(code, sentence: ending.words.isEmpty ? Self.surplus : ending.words))
    }
}

extension ClusterAction.Refused {
    var refusal: Refusal {
        switch self {
        case .full: Refusal(.stageFull)
        case .inUse: Refusal(.streamKeyInUse)
        case .away: Refusal(.platformAway)
        }
    }
}
