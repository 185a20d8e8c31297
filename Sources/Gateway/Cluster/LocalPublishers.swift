import Admission
import EventLoop
import Refusals
import Store
import Wire

/// The sessions that publish through this node, or want to, as the machine's word on their leases
/// reaches them. Confined to the loop.
final class LocalPublishers {
    /// A remote holder lives as long as a claim looks at it.
    private struct WeakHolder {
        weak var holder: RemoteHolder?
    }

    private let leases: ClusterLeases
    /// By the number of their watch.
    private var remoteHolders: [Int: WeakHolder] = [:]

    init(_ leases: ClusterLeases) { self.leases = leases }

    func close() { remoteHolders = [:] }

    /// - Returns: false when the claim is refused in the end: the lease is to be given back.
    func granted(_ claim: ClusterOrder.Claim, _ identity: LeaseIdentity, _ session: SharedSession) -> Bool {
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
            return false
        }
        claim.reply(.granted(lease))
        return true
    }

    func end(_ lease: LeaseIdentity, _ end: LeaseEnd) { holder(of: lease)?.end(end) }

    /// Ends those whose credential is good no longer.
    func endRefused() {
        for entry in leases.local.entries {
            if let refusal = leases.refusal(of: entry.grant) { entry.holder.end(.disconnected(refusal)) }
        }
    }

    func revive(_ lease: LeaseIdentity, generation: UInt64) {
        let entry = leases.local.entries.first { LeaseIdentity($0.lease) == lease }
        if let entry { leases.local.revive(entry.lease, generation: generation) }
    }

    func holding(of lease: LeaseIdentity, _ now: MonotonicTime) -> NodeMessage.Holding {
        guard let holder = self.holder(of: lease), !holder.hasEnded else { return .gone }
        return .live(age: max(.zero, now - holder.lastProgress))
    }

    private func holder(of lease: LeaseIdentity) -> (any LeaseHolder)? {
        leases.local.holder(
            ofParticipant: lease.key.participantID, stageID: lease.key.stageID, generation: lease.generation)
    }
}

// MARK: - Those that wait for a lease elsewhere

extension LocalPublishers {
    func heldElsewhere(_ claim: ClusterOrder.Claim, watch: Int, _ progress: MonotonicTime) {
        let sender = leases.control.withLock { $0 }
        let participant = StageParticipant(claim.grant.participantID, of: claim.grant.stageARN)
        let holder = RemoteHolder(progress: progress) { reason in
            // Taking over is claimed, not said.
            if case .disconnected(let refusal) = reason { _ = sender?.send(.end(participant, refusal)) }
        } onForgotten: {
            _ = sender?.send(.watchEnded(watch))
        }
        remoteHolders[watch] = WeakHolder(holder: holder)
        claim.reply(.held(by: holder))
    }

    func progressed(watch: Int, at time: MonotonicTime) { remoteHolders[watch]?.holder?.progressed(at: time) }

    func gone(watch: Int) { remoteHolders[watch]?.holder?.ended() }

    func watchEnded(_ watch: Int) { remoteHolders[watch] = nil }
}

extension LeaseIdentity {
    init(_ lease: PublishLease) {
        self.init(LeaseKey(stageID: lease.stageID, participantID: lease.participantID), generation: lease.generation)
    }
}
