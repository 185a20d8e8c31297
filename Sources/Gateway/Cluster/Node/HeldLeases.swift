import Admission
import Wire

/// The leases that this node holds, by stage, and those that it gave back without the server's answer.
///
/// One that was revived has two generations: its session knows the first, the server and the other nodes know the present one.
struct HeldLeases: Sendable {
    struct Lease: Sendable {
        let set: String
        let credential: String
        let session: SharedSession
        /// As its session was granted it.
        let granted: UInt64
        /// As the server knows it.
        fileprivate(set) var generation: UInt64
    }

    /// By stage, then by participant.
    private var stages: [String: [String: Lease]] = [:]
    /// By stage, the session that the history knows, as this node has told.
    private var recorded: [String: String] = [:]
    /// When a stage's renewal was answered last.
    private var renewedAt: [String: MonotonicTime] = [:]
    /// As the server knows them.
    private var unreleased: Set<LeaseIdentity> = []
    /// Of all that this node was granted, or read of its own ones: what it is granted next is higher.
    private(set) var highestGeneration: UInt64 = 0

    func contains(stage: String) -> Bool { stages[stage] != nil }

    subscript(_ key: LeaseKey) -> Lease? { stages[key.stageID]?[key.participantID] }

    func sets(ofStage stage: String) -> Set<String> { Set(stages[stage, default: [:]].values.map(\.set)) }

    func session(ofStage stage: String) -> SharedSession? { stages[stage]?.inOrder.first?.value.session }

    /// The lease that others know by that generation, as its session here knows it.
    func asGranted(_ lease: LeaseIdentity) -> LeaseIdentity? {
        guard let entry = self[lease.key], entry.generation == lease.generation else { return nil }
        return LeaseIdentity(lease.key, generation: entry.granted)
    }

    /// A participant's, or all of a stage, in order and as their sessions here know them.
    func asGranted(ofStage stage: String, participant: String?) -> [LeaseIdentity] {
        stages[stage, default: [:]].filter { participant == nil || $0.key == participant }.inOrder.map { name, lease in
            LeaseIdentity(LeaseKey(stageID: stage, participantID: name), generation: lease.granted)
        }
    }

    /// A generation that no server has given.
    mutating func makeGeneration(notBelow lowest: UInt64) -> UInt64 {
        highestGeneration = max(highestGeneration + 1, lowest)
        return highestGeneration
    }

    mutating func keep(_ lease: LeaseIdentity, set: String, credential: String, in session: SharedSession) {
        highestGeneration = max(highestGeneration, lease.generation)
        stages[lease.key.stageID, default: [:]][lease.key.participantID] = Lease(
            set: set, credential: credential, session: session, granted: lease.generation, generation: lease.generation)
    }

    /// The lease goes on under a higher generation; its session need not know.
    mutating func revive(_ key: LeaseKey, as generation: UInt64) {
        highestGeneration = max(highestGeneration, generation)
        stages[key.stageID]?[key.participantID]?.generation = generation
    }

    /// Another one has the lease now.
    mutating func lose(_ key: LeaseKey, to generation: UInt64) {
        highestGeneration = max(highestGeneration, generation)
        drop(key)
    }

    private mutating func drop(_ key: LeaseKey) {
        stages[key.stageID]?[key.participantID] = nil
        guard stages[key.stageID]?.isEmpty == true else { return }
        (stages[key.stageID], recorded[key.stageID], renewedAt[key.stageID]) = (nil, nil, nil)
    }
}

// MARK: - Giving back

extension HeldLeases {
    /// - Parameter lease: as its session knows it; another one of the same participant stays.
    /// - Returns: it as the server knows it.
    mutating func release(_ lease: LeaseIdentity) -> LeaseIdentity? {
        guard let entry = self[lease.key], entry.granted == lease.generation else { return nil }
        drop(lease.key)
        return LeaseIdentity(lease.key, generation: entry.generation)
    }

    /// The server may not have heard that a lease was given back: it is told with the next renewals.
    mutating func releaseLater(_ lease: LeaseIdentity) { unreleased.insert(lease) }

    /// Takes what the server may not have heard of, in an order that does not depend on chance.
    mutating func takeUnreleased() -> [LeaseIdentity] {
        defer { unreleased = [] }
        return unreleased.sorted {
            ($0.generation, $0.key.stageID, $0.key.participantID) < ($1.generation, $1.key.stageID, $1.key.participantID)
        }
    }
}

// MARK: - Renewing, and losing

extension HeldLeases {
    /// The history knows the stage's session, which is said as long as something is held there.
    mutating func noteRecorded(_ session: String, ofStage stage: String) {
        if contains(stage: stage) { recorded[stage] = session }
    }

    /// All that is held, one call for each stage.
    var renewals: [ClusterCall] {
        stages.inOrder.map { stage, leases in
            ClusterCall.renew(
                stage: stage,
                leases.inOrder.map { participant, lease in
                    ClusterCall.RenewedLease(
                        participantID: participant, generation: lease.generation, set: lease.set,
                        credential: lease.credential, session: lease.session,
                        isRecorded: recorded[stage] == lease.session.id)
                })
        }
    }

    /// A stage's renewal was answered.
    /// - Returns: the time since the answer before it; nil if this is the first since the stage is
    ///   held, or nothing is held there.
    mutating func renewed(stage: String, at now: MonotonicTime) -> Duration? {
        guard contains(stage: stage) else { return nil }
        defer { renewedAt[stage] = now }
        return renewedAt[stage].map { now - $0 }
    }

    /// What the server has found of the leases that it was asked to renew.
    mutating func follow(
        _ results: [ClusterAnswer.Renewal], of leases: [ClusterCall.RenewedLease], onStage stage: String
    ) -> [ClusterAction] {
        var actions: [ClusterAction] = []
        for (asked, result) in zip(leases, results) {
            // What was given back or taken over here meanwhile is not the lease that was asked for.
            let key = LeaseKey(stageID: stage, participantID: asked.participantID)
            guard let lease = asGranted(LeaseIdentity(key, generation: asked.generation)) else { continue }
            actions += follow(result, of: lease)
        }
        return actions
    }

    /// - Parameter lease: as its session knows it.
    private mutating func follow(_ result: ClusterAnswer.Renewal, of lease: LeaseIdentity) -> [ClusterAction] {
        switch result {
        case .ok: return []
        case .lost(let generation):
            lose(lease.key, to: generation)
            return [.end(lease, .takenOver)]
        case .end(let ending): return [.end(lease, LeaseEnd(ending))]
        case .revived(let generation):
            revive(lease.key, as: generation)
            return [.revive(lease, generation: generation)]
        }
    }

    /// Another node says that it has a participant's lease.
    mutating func takenOver(by lease: LeaseIdentity) -> [ClusterAction] {
        guard let entry = self[lease.key], entry.generation < lease.generation else { return [] }
        lose(lease.key, to: lease.generation)
        return [.end(LeaseIdentity(lease.key, generation: entry.granted), .takenOver)]
    }
}
