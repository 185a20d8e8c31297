import Admission
import Wire

/// What the control loop knows of a participant's latest publication: what is announced of it, where, and as which generation.
struct ForwardedParticipant: Sendable {
    /// Its announce at one of the routers of its stage.
    struct Replica: Sendable {
        var state = State.unplaced
        /// The router that was announced to last; nil before the first, and when that router has died.
        var router: String?
        /// The router that has answered an announce and not been sent its end. Another one than `router` only until it is.
        var standing: String?
        /// What that router holds is the same whatever layers come or go.
        var isLayerless = false
        /// Of its last announce; 0 before the first.
        var generation: UInt64 = 0
        var failures = 0
        /// Nobody takes it, and that has been told.
        var isToldMissing = false
        /// When a router said that it holds a higher generation than any of ours.
        var outdatedAt: MonotonicTime?
        /// The number of the open question to the store of placements: only its answer counts.
        var question: Int?

        /// Whether its router has been asked, or has answered.
        var isAnnounced: Bool { state == .announcing || state == .live }
    }

    enum State: Sendable, Equatable {
        /// Nothing is under way: before the first step, or when only a successor will announce again.
        case unplaced
        /// The store is asked which router has the stage.
        case looking(avoiding: String?)
        /// The store is asked to write that router down.
        case moving(to: String)
        /// The router is asked.
        case announcing
        /// The router has answered.
        case live
        case waiting(until: MonotonicTime)
    }

    let id: ForwardingID
    /// As the worker sent it, with the lease's generation in it.
    var announcement: Announcement
    var replicas: [Replica]
    /// The highest of any announce of the participant; 0 before the first. Two announces never have the same.
    var generation: UInt64 = 0
    /// The publication was taken over: its announce waits that long for the successor.
    var successorBy: MonotonicTime?

    init(_ id: ForwardingID, _ announcement: Announcement, replicas count: Int) {
        (self.id, self.announcement) = (id, announcement)
        replicas = Array(repeating: Replica(), count: count)
    }

    var stageID: String { announcement.grant.stageID }

    var slots: [PlacementSlot] { replicas.indices.map { PlacementSlot(id: id, replica: $0) } }

    func placementKey(of replica: Int) -> PlacementKey { PlacementKey(stageID: stageID, replica: replica) }

    /// Takes over from an earlier publication of the participant: generations rise from its last one, and what
    /// stands at routers is ours to end.
    mutating func continues(_ former: ForwardedParticipant) {
        generation = former.generation
        for index in replicas.indices { replicas[index].standing = former.replicas[index].standing }
    }

    /// What stands at a router becomes this publication's to end, unless the replica has something to end elsewhere.
    /// - Returns: whether it is this publication's now.
    mutating func inherit(_ router: String, _ replica: Int) -> Bool {
        if replicas.contains(where: { $0.standing == router }) { return true }
        guard replicas[replica].standing == nil else { return false }
        replicas[replica].standing = router
        return true
    }

    /// What turns out to stand at a router is this publication's to end, if it is there too.
    /// - Returns: whether it is.
    mutating func adopt(_ router: String) -> Bool {
        guard let replica = replicas.firstIndex(where: { $0.router == router || $0.standing == router }) else { return false }
        replicas[replica].standing = router
        return true
    }

    /// Chooses the generation of the next announce: above the record's, the lease's, and the last one.
    mutating func begin(_ replica: Int, at record: PlacementRecord) {
        generation = min(
            Generation.maximum, max(record.generation, announcement.generation, generation == 0 ? 0 : generation + 1))
        (replicas[replica].router, replicas[replica].generation) = (record.router, generation)
        (replicas[replica].state, replicas[replica].isToldMissing) = (.announcing, false)
    }

    mutating func succeeded(_ replica: Int, _ plan: LegPlan) {
        (replicas[replica].state, replicas[replica].failures) = (.live, 0)
        (replicas[replica].standing, replicas[replica].isLayerless) = (replicas[replica].router, plan.isLayerless)
    }

    /// - Returns: how long to wait before the next attempt: 1, 2, 4, 8 s.
    mutating func failed(_ replica: Int, _ failure: AnnounceFailure, at now: MonotonicTime) -> Duration {
        if failure == .staleGeneration { replicas[replica].outdatedAt = now }
        replicas[replica].failures += 1
        let doubled = PlacementMachine.retryDelay * (1 << min(replicas[replica].failures - 1, 3))
        return min(doubled, PlacementMachine.maximumRetryDelay)
    }

    /// Another gateway's clock once ran ahead of ours: continue above it.
    mutating func overtake(_ replica: Int, at wall: WallTime) {
        let clock = UInt64(max(0, wall.millisecondsSince1970))
        generation = min(Generation.maximum - 1, max(generation + 1000, clock))
        replicas[replica].outdatedAt = nil
    }

    /// The router has died: what it may hold still is the machine's to end.
    mutating func leave(_ replica: Int) {
        (replicas[replica].router, replicas[replica].standing, replicas[replica].failures) = (nil, nil, 0)
    }

    /// A replica that has left its router, and no other has been asked for it yet.
    var unplaced: Int? { replicas.firstIndex { $0.router == nil && $0.standing == nil } }

    /// What has stood at a router since before its death is this publication's to replace, or to end.
    mutating func takeUp(_ left: Announcement, at router: String, _ replica: Int) {
        replicas[replica].standing = router
        generation = max(generation, left.generation)
    }

    /// The announcement as this replica's router knows it.
    func announcement(for replica: Int) -> Announcement {
        var announcement = announcement
        announcement.generation = replicas[replica].generation
        return announcement
    }

    /// What withdraws it from any router: none refuses this generation.
    var withdrawal: Announcement {
        var announcement = announcement
        announcement.generation = generation
        return announcement
    }

    func isLive(at router: String) -> Bool { replicas.contains { $0.router == router && $0.state == .live } }

    /// Routers that the other replicas have, are about to have, or have not left yet.
    func routersTaken(besides replica: Int) -> Set<String> {
        var taken: Set<String> = []
        for (index, other) in replicas.enumerated() where index != replica {
            taken.formUnion([other.router, other.standing].compactMap { $0 })
            if case .moving(let router) = other.state { taken.insert(router) }
        }
        return taken
    }

    /// What is live at a router, as it was announced there.
    func announcements(at router: String) -> [Announcement] {
        replicas.indices.filter { replicas[$0].router == router && replicas[$0].state == .live }.map(announcement(for:))
    }
}
