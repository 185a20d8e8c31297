import Settings
import Wire

@testable import Cluster

/// The scripts of one stage.
extension ModelServer.Stage {
    private typealias Lease = ModelServer.Lease

    private func isLive(_ lease: ModelServer.Lease, _ now: Int64) -> Bool { now < lease.expires }
    private func isAnyLive(_ now: Int64) -> Bool { leases.values.contains { isLive($0, now) } }

    mutating func begin(_ id: String, start: Int64) {
        guard session == nil else { return }
        session = ModelServer.Session(shared: SharedSession(id: id, start: start), isRecorded: former.sessionID == id)
    }

    mutating func noteIdle(_ now: Int64) {
        if !isAnyLive(now), session != nil, session?.idle == nil { session?.idle = now }
    }

    mutating func claim(
        _ claim: ClusterCall.ClaimArguments, _ settings: NodeSettings, _ now: Int64
    ) -> ClusterAnswer.ClaimResult {
        let participant = claim.key.participantID
        let old = leases[participant]
        if let old, isRespected(old, claim, settings.nodeID, now) {
            let lease = LeaseIdentity(claim.key, generation: old.generation)
            return .held(
                by: RemoteLease(node: old.node, lease), remaining: .milliseconds(max(0, old.expires - now)))
        }
        if old == nil, claim.grace == .unknown { return .wait }
        let others = leases.filter { $0.key != participant && (isLive($0.value, now) || claim.grace != .none) }
        let sets = Set(others.values.map(\.set)).union([claim.set]).subtracting([""])
        guard claim.set.isEmpty || sets.count <= settings.quotas.publishersPerStage else { return .full }
        let next = max(max(generation, old?.generation ?? 0) + 1, max(UInt64(now), claim.lowestGeneration))
        generation = next
        begin(claim.sessionID, start: now)
        session?.idle = nil
        if let old, old.node != settings.nodeID { swept[participant] = old.generation }
        let id = session?.shared.id ?? ""
        leases[participant] = Lease(
            node: settings.nodeID, generation: next, expires: now + settings.cluster.leaseLifetime.milliseconds, set: claim.set,
            credential: claim.credential, session: id,
            since: old.flatMap { isLive($0, now) ? $0.since : nil } ?? next)
        let displaced = old.flatMap { old in
            ClusterAnswer.Displaced(
                node: old.node,
                lease: EndedLease(LeaseIdentity(claim.key, generation: old.generation), sessionID: old.session))
        }
        let shared = session?.shared ?? SharedSession(id: id, start: now)
        return .granted(.init(generation: next, session: shared, displaced: displaced))
    }

    private func isRespected(
        _ old: ModelServer.Lease, _ claim: ClusterCall.ClaimArguments, _ node: String, _ now: Int64
    ) -> Bool {
        if old.node == node || old.generation == claim.takesOver { return false }
        if old.generation == claim.ofDeadOwner, old.credential == claim.credential { return false }
        if isLive(old, now) { return true }
        return claim.grace != .none && !(claim.isOwnerSilent && old.credential == claim.credential)
    }

    mutating func renew(
        _ renewed: [ClusterCall.RenewedLease], _ settings: NodeSettings, _ now: Int64
    ) -> [ClusterAnswer.Renewal] {
        var revived: [String: UInt64] = [:]
        var isRetaken = false
        for item in renewed {
            let old = leases[item.participantID]
            if let old, old.generation > item.generation {
                guard old.node == settings.nodeID, old.since <= item.generation else { continue }
                revived[item.participantID] = old.generation
            }
            isRetaken = isRetaken || old.map { $0.generation < item.generation || !isLive($0, now) } ?? true
            var next = item.generation
            let last = max(swept[item.participantID] ?? 0, former.swept[item.participantID] ?? 0)
            if old == nil, last >= item.generation {
                next = revive(item.participantID, last, &revived, now)
            }
            var lease = old ?? Lease(node: "", generation: 0, expires: 0, set: "", credential: "", session: "", since: 0)
            if lease.generation < next {
                lease = Lease(
                    node: settings.nodeID, generation: next, expires: 0, set: item.set, credential: item.credential,
                    session: item.session.id, since: item.generation)
                generation = max(generation, next)
            } else if lease.isTold {
                lease.generation = revive(item.participantID, lease.generation, &revived, now)
                lease.isTold = false
            }
            lease.expires = now + settings.cluster.leaseLifetime.milliseconds
            leases[item.participantID] = lease
            begin(item.session.id, start: item.session.start)
            if item.isRecorded, session?.shared.id == item.session.id { session?.isRecorded = true }
        }
        if isRetaken { endSurplus(settings.quotas.publishersPerStage, now) }
        if isAnyLive(now) { session?.idle = nil }
        return renewed.map { answer(to: $0, revived) }
    }

    private mutating func revive(
        _ participant: String, _ last: UInt64, _ revived: inout [String: UInt64], _ now: Int64
    ) -> UInt64 {
        generation = max(last + 1, UInt64(now), generation + 1)
        revived[participant] = generation
        return generation
    }

    private func answer(to item: ClusterCall.RenewedLease, _ revived: [String: UInt64]) -> ClusterAnswer.Renewal {
        guard let lease = leases[item.participantID] else { return .ok }
        if let next = revived[item.participantID], lease.ending == nil { return .revived(generation: next) }
        if lease.generation > item.generation, revived[item.participantID] == nil {
            return .lost(generation: lease.generation)
        }
        return lease.ending.map { .end($0) } ?? .ok
    }

    private mutating func endSurplus(_ limit: Int, _ now: Int64) {
        var first: [String: UInt64] = [:]
        for lease in leases.values where isLive(lease, now) && lease.ending == nil && !lease.set.isEmpty {
            first[lease.set] = min(first[lease.set] ?? .max, lease.since)
        }
        let order = first.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.dropFirst(limit).map(\.key)
        for (participant, lease) in leases where order.contains(lease.set) && isLive(lease, now) && lease.ending == nil {
            leases[participant]?.ending = LeaseEnding(code: 1005, words: "")
        }
    }

    mutating func release(_ lease: LeaseIdentity, _ now: Int64) {
        guard leases[lease.key.participantID]?.generation == lease.generation else { return }
        leases[lease.key.participantID] = nil
        noteIdle(now)
    }

    mutating func end(_ stage: String, _ participant: String?, _ ending: LeaseEnding) -> [RemoteLease] {
        leases.filter { participant == nil || $0.key == participant }.sorted { $0.key < $1.key }.map { name, lease in
            if lease.ending == nil { leases[name]?.ending = ending }
            let key = LeaseKey(stageID: stage, participantID: name)
            return RemoteLease(node: lease.node, LeaseIdentity(key, generation: lease.generation))
        }
    }

    mutating func sweep(_ stage: String, _ node: String, _ told: [LeaseIdentity], _ now: Int64) -> ClusterAnswer {
        let known = Dictionary(told.map { ($0.key.participantID, $0.generation) }) { _, last in last }
        for (participant, lease) in leases
        where lease.node == node && !isLive(lease, now) && known[participant] == lease.generation {
            leases[participant] = nil
            if session != nil { swept[participant] = lease.generation }
        }
        noteIdle(now)
        let left = leases.filter { $0.value.node == node }
        let ended = left.filter { !isLive($0.value, now) }.sorted { $0.key < $1.key }
        for participant in ended.map(\.key) { leases[participant]?.isTold = true }
        return .swept(left: left.count, ended.map { EndedLease(stage, $0.key, $0.value) })
    }

    mutating func endIdle(
        _ stage: String, after linger: Int64, told: String?, _ now: Int64
    ) -> ClusterAnswer.Idleness {
        if let over, over.sessionID != told { return .ended(sessionID: over.sessionID, over.dropped) }
        over = nil
        if isAnyLive(now) { return .live }
        guard let session else { return .none }
        guard let idle = session.idle else {
            noteIdle(now)
            return .wait(.milliseconds(linger))
        }
        if idle + linger > now { return .wait(.milliseconds(idle + linger - now)) }
        if session.shared.id == told { return .wait(.zero) }
        let dropped = leases.sorted { $0.key < $1.key }.map { EndedLease(stage, $0.key, $0.value) }
        former = (swept.merging(leases.mapValues(\.generation)) { $1 }, session.isRecorded ? session.shared.id : nil)
        (leases, self.session, swept) = ([:], nil, [:])
        over = (session.shared.id, dropped)
        return .ended(sessionID: session.shared.id, dropped)
    }

    func view(_ now: Int64) -> ClusterAnswer.StageView {
        ClusterAnswer.StageView(
            session: session?.shared, isRecorded: session?.isRecorded ?? false,
            participants: Set(leases.filter { isLive($0.value, now) && !$0.value.set.isEmpty }.keys))
    }
}

extension EndedLease {
    fileprivate init(_ stage: String, _ participant: String, _ lease: ModelServer.Lease) {
        self.init(
            LeaseIdentity(LeaseKey(stageID: stage, participantID: participant), generation: lease.generation),
            sessionID: lease.session)
    }
}
