import Admission
import Wire

/// Which router each stage goes to, and that its publications get there: placement, announces, leases, health, failover.
///
/// A value without clock, socket or chance: every input returns what is to be done, always the same in the same order, and
/// `deadline` says when to call `timePassed`. A stage stays with its router until that is dead, for itself and for all that was
/// announced there; everything else that fails is tried again.
struct PlacementMachine: Sendable {
    private(set) var participants = ForwardedParticipants()
    private var routers: PlacementRouters
    private var abandoned = AbandonedAnnounces()
    private let replicas: Int
    private var healthAt: MonotonicTime
    private var leasesAt: MonotonicTime
    /// Nobody waits for an earlier moment.
    private var waitingUntil: MonotonicTime?

    /// - Parameters:
    ///   - routers: by name, whether the router can be asked for its health.
    ///   - now: health is asked for at once.
    init(routers: [String: Bool], replicas: Int, now: MonotonicTime) {
        self.routers = PlacementRouters(hasHealth: routers)
        (self.replicas, healthAt, leasesAt) = (replicas, now, now + Self.leaseInterval)
    }

    /// When `timePassed` has something to do at the latest.
    var deadline: MonotonicTime { min(healthAt, leasesAt, waitingUntil ?? healthAt) }

    /// To be called at `deadline`; earlier it does no harm.
    mutating func timePassed(_ now: MonotonicTime) -> [PlacementAction] {
        var actions: [PlacementAction] = []
        if let waitingUntil, now >= waitingUntil { actions += goOnWaiting(now) }
        if now >= healthAt {
            healthAt = now + RouterHealth.checkInterval
            actions += routers.beginChecks().map { PlacementAction.checkHealth(router: $0) }
        }
        if now >= leasesAt {
            leasesAt = now + Self.leaseInterval
            actions += followPlacements() + renewLeases()
        }
        return actions
    }

    /// Does what was waited for, and finds the next moment.
    private mutating func goOnWaiting(_ now: MonotonicTime) -> [PlacementAction] {
        waitingUntil = nil
        var actions: [PlacementAction] = []
        for participant in participants.inOrder {
            if let end = participant.successorBy {
                if now >= end { actions += self.end(participant, .takenOver) } else { wake(at: end) }
            }
            for (index, replica) in participant.replicas.enumerated() {
                guard case .waiting(let until) = replica.state else { continue }
                let slot = PlacementSlot(id: participant.id, replica: index)
                if now >= until { actions += place(slot) } else { wake(at: until) }
            }
        }
        return actions
    }

    private mutating func wake(at moment: MonotonicTime) { waitingUntil = min(moment, waitingUntil ?? moment) }

    /// Whether nothing is announced, and no answer is awaited.
    var isIdle: Bool { participants.isEmpty && abandoned.isEmpty }

    /// Routers drop what is ours after 15 s without a lease (docs/stage-router.md).
    static let leaseInterval = Duration.seconds(5)
    /// Doubled with each failure, up to the maximum.
    static let retryDelay = Duration.seconds(1)
    static let maximumRetryDelay = Duration.seconds(8)
    /// A publication that was taken over keeps its announces that long: the successor has to come through its handshake.
    static let successorPatience = Duration.seconds(10)
}

// MARK: - Publications

extension PlacementMachine {
    /// A publication has formats to announce. One of the same participant that was there before is succeeded, not ended.
    mutating func started(_ id: ForwardingID, _ announcement: Announcement) -> [PlacementAction] {
        var participant = ForwardedParticipant(id, announcement, replicas: replicas)
        if let former = participants[id.participant] {
            // Its worker may report it late, when the successor's has been reported already.
            guard former.id.serial < id.serial else { return [] }
            participant.continues(former)
            for slot in former.slots { abandoned.add(slot, of: former, .takenOver) }
        }
        abandoned.bequeath(to: &participant)
        participants[id.participant] = participant
        return participant.slots.flatMap { place($0) }
    }

    /// Formats, mute or keyframe requests turned out different.
    mutating func changed(_ id: ForwardingID, _ announcement: Announcement) -> [PlacementAction] {
        guard let former = participants[id] else { return [] }
        participants[id.participant]?.announcement = announcement
        return former.slots.filter { participants[$0]?.state == .live }.flatMap { bringUpToDate($0, since: former.announcement) }
    }

    /// RTCP came from a replica's router.
    mutating func feedbackCame(of slot: PlacementSlot, at moment: MonotonicTime) {
        guard let router = participants[slot]?.router else { return }
        routers.feedbackCame(from: router, at: moment)
    }

    /// The announces of a publication that was taken over wait for the successor.
    mutating func ended(_ id: ForwardingID, _ reason: WithdrawalReason, _ now: MonotonicTime) -> [PlacementAction] {
        guard let participant = participants[id] else { return [] }
        guard reason == .takenOver else { return end(participant, reason) }
        let end = now + Self.successorPatience
        participants[id.participant]?.successorBy = end
        wake(at: end)
        for slot in participant.slots where participants[slot]?.isAnnounced == false { rest(slot) }
        return []
    }

    private mutating func end(_ participant: ForwardedParticipant, _ reason: WithdrawalReason) -> [PlacementAction] {
        participants[participant.id.participant] = nil
        var actions: [PlacementAction] = []
        for slot in participant.slots {
            let replica = participant.replicas[slot.replica]
            let isAsked = replica.state == .announcing && replica.standing == replica.router
            abandoned.add(slot, of: participant, reason, standsAnyway: isAsked)
            guard let router = replica.standing, !isAsked else { continue }
            actions.append(.withdraw(participant.withdrawal, at: router, reason: reason))
        }
        return actions
    }
}

// MARK: - Placement

extension PlacementMachine {
    /// Asks for the stage's router, to announce there.
    private mutating func place(_ slot: PlacementSlot, avoiding avoided: String? = nil) -> [PlacementAction] {
        guard let participant = participants[slot.id], participant.successorBy == nil else { return rest(slot) }
        participants[slot]?.state = .looking(avoiding: avoided)
        return [.look(participants.ask(slot), participant.placementKey(of: slot.replica))]
    }

    /// The store's answer to the latest question of its slot.
    /// - Parameter isOurs: `PlacementStore.isOurs` of the stage. A router with a higher generation has it from whoever took the
    ///   participant over, until it is known that nobody has.
    mutating func looked(
        _ question: PlacementQuestion, _ record: PlacementRecord?, _ now: MonotonicTime, wall: WallTime,
        isOurs: (_ since: MonotonicTime) -> Bool
    ) -> [PlacementAction] {
        let (slot, replica) = (question.slot, participants.answered(question))
        switch replica?.state {
        case .looking(let avoided):
            if let outdatedAt = replica?.outdatedAt {
                guard isOurs(outdatedAt) else { return wait(slot, until: now + Self.retryDelay) }
                participants[slot.id.participant]?.overtake(slot.replica, at: wall)
            }
            if let record, record.router != avoided, routers.isAlive(record.router), !isTaken(record.router, besides: slot) {
                return announce(slot, at: record)
            }
            return move(slot, from: record, avoiding: avoided, now, wall)
        case .live: return record.map { follow($0, slot) } ?? []
        default: return []
        }
    }

    /// The store's answer to `move`. Only the slot's latest question counts.
    mutating func moved(
        _ question: PlacementQuestion, _ answer: PlacementAnswer, _ now: MonotonicTime
    ) -> [PlacementAction] {
        guard case .moving = participants.answered(question)?.state else { return [] }
        guard case .current(let record) = answer, routers.contains(record.router),
            !isTaken(record.router, besides: question.slot)
        else {
            return wait(question.slot, until: now + Self.retryDelay)
        }
        return announce(question.slot, at: record)
    }

    private mutating func move(
        _ slot: PlacementSlot, from record: PlacementRecord?, avoiding avoided: String?, _ now: MonotonicTime, _ wall: WallTime
    ) -> [PlacementAction] {
        guard let participant = participants[slot.id] else { return [] }
        guard let router = candidate(for: slot, participant, avoiding: avoided) else {
            let waiting = wait(slot, until: now + Self.retryDelay)
            // Nobody else: the router that did not answer gets another chance.
            if let record, routers.isAlive(record.router) { return waiting }
            guard participants[slot]?.isToldMissing == false else { return waiting }
            participants[slot]?.isToldMissing = true
            return waiting + [.tell(.noRouter(stageID: participant.stageID))]
        }
        let generation = Generation.next(after: record?.generation, wallMilliseconds: wall.millisecondsSince1970)
        participants[slot]?.state = .moving(to: router)
        let next = PlacementRecord(router: router, generation: generation)
        return [.move(participants.ask(slot), participant.placementKey(of: slot.replica), from: record, to: next)]
    }

    /// The best router by rendezvous that is alive and has no other replica of the stage.
    private func candidate(
        for slot: PlacementSlot, _ participant: ForwardedParticipant, avoiding avoided: String?
    ) -> String? {
        let taken = participant.routersTaken(besides: slot.replica)
        let names = routers.eligible.filter { $0 != avoided && !taken.contains($0) }
        return Rendezvous.ranking(of: names, for: participant.stageID).first
    }

    /// Two publications may have moved two replicas of their stage to one router: a participant is never there twice.
    private func isTaken(_ router: String, besides slot: PlacementSlot) -> Bool {
        participants[slot.id]?.routersTaken(besides: slot.replica).contains(router) == true
    }

    /// Another gateway may have moved a stage while its router was well here, or a move was lost: the record holds.
    private mutating func followPlacements() -> [PlacementAction] {
        var actions: [PlacementAction] = []
        for participant in participants.inOrder where participant.successorBy == nil {
            for slot in participant.slots where participants[slot]?.state == .live {
                actions.append(.look(participants.ask(slot), participant.placementKey(of: slot.replica)))
            }
        }
        return actions
    }

    private mutating func follow(_ record: PlacementRecord, _ slot: PlacementSlot) -> [PlacementAction] {
        guard participants[slot]?.router != record.router, routers.isEligible(record.router),
            !isTaken(record.router, besides: slot)
        else { return [] }
        return [.close(slot)] + announce(slot, at: record)
    }

    /// - Returns: nothing to do until `timePassed` takes it up again.
    private mutating func wait(_ slot: PlacementSlot, until moment: MonotonicTime) -> [PlacementAction] {
        guard participants[slot.id]?.successorBy == nil else { return rest(slot) }
        participants[slot]?.state = .waiting(until: moment)
        wake(at: moment)
        return []
    }

    /// Only a successor will announce again.
    @discardableResult
    private mutating func rest(_ slot: PlacementSlot) -> [PlacementAction] {
        participants[slot]?.state = .unplaced
        participants[slot]?.question = nil
        return []
    }
}

// MARK: - Announces

extension PlacementMachine {
    private mutating func announce(_ slot: PlacementSlot, at record: PlacementRecord) -> [PlacementAction] {
        var actions: [PlacementAction] = []
        guard var participant = participants[slot.id] else { return [] }
        if let standing = participant.replicas[slot.replica].standing, standing != record.router {
            actions.append(.withdraw(participant.withdrawal, at: standing, reason: .moved))
            participant.replicas[slot.replica].standing = nil
        }
        if let left = routers.takeLeft(of: slot.id.participant, at: record.router) {
            participant.takeUp(left, at: record.router, slot.replica)
        }
        participant.begin(slot.replica, at: record)
        participants[slot.id.participant] = participant
        let announcement = participant.announcement(for: slot.replica)
        return actions + [.announce(PlacementAnnounce(slot: slot, router: record.router, announcement: announcement))]
    }

    /// The router's answer to `announce`.
    mutating func answered(
        _ announce: PlacementAnnounce, _ result: Result<LegPlan, AnnounceFailure>, _ now: MonotonicTime
    ) -> [PlacementAction] {
        if let entry = abandoned.remove(announce.id) { return settle(announce, entry, result) }
        guard participants[announce.slot]?.state == .announcing else { return [] }
        let participant = announce.slot.id.participant
        switch result {
        case .success(let plan):
            participants[participant]?.succeeded(announce.slot.replica, plan)
            let generation = announce.announcement.generation
            let story = RouterControl.Story.announced(
                participantID: participant.participantID, router: announce.router, generation: generation)
            return [.open(announce.slot, plan), .tell(story)] + bringUpToDate(announce.slot, since: announce.announcement)
        case .failure(let failure):
            let story = RouterControl.Story.announceFailed(
                participantID: participant.participantID, router: announce.router, failure)
            return [.tell(story)] + failed(announce, failure, now)
        }
    }

    /// A router that does not answer is left at once by a stage that has no live participant there.
    private mutating func failed(
        _ announce: PlacementAnnounce, _ failure: AnnounceFailure, _ now: MonotonicTime
    ) -> [PlacementAction] {
        let (slot, router) = (announce.slot, announce.router)
        guard let delay = participants[slot.id.participant]?.failed(slot.replica, failure, at: now) else { return [] }
        let waiting = wait(slot, until: now + delay)
        guard failure == .noAnswer else { return waiting }
        let stageID = participants[slot.id.participant]?.stageID
        let hasLive = participants.values.contains { $0.stageID == stageID && $0.isLive(at: router) }
        let actions = take(.unansweredAnnounce, of: router, now)
        // Its death has moved the stage.
        guard routers.isAlive(router), !hasLive else { return actions }
        return actions + place(slot, avoiding: router)
    }

    /// Sends the router what has changed since its announce. What has an SSRC of its own does not change within an announce.
    private mutating func bringUpToDate(_ slot: PlacementSlot, since told: Announcement) -> [PlacementAction] {
        guard let participant = participants[slot.id], let replica = participants[slot], let router = replica.router
        else { return [] }
        let announcement = participant.announcement(for: slot.replica)
        let isAlike = replica.isLayerless ? announcement.kinds == told.kinds : announcement.sources == told.sources
        guard isAlike else { return place(slot) }
        var told = told
        told.generation = announcement.generation
        return told == announcement ? [] : [.update(announcement, at: router)]
    }

    /// What the router holds of it is the present publication's to end, if that is there too, or is ended with the last answer.
    private mutating func settle(
        _ announce: PlacementAnnounce, _ entry: AbandonedAnnounces.Entry, _ result: Result<LegPlan, AnnounceFailure>
    ) -> [PlacementAction] {
        if case .failure = result, !entry.standsAnyway { return [] }
        let (participant, router) = (announce.slot.id.participant, announce.router)
        routers.takeLeft(of: participant, at: router)
        if participants[participant]?.adopt(router) == true || abandoned.passOn(entry) { return [] }
        var announcement = announce.announcement
        announcement.generation = entry.generation
        return [.withdraw(announcement, at: router, reason: entry.reason)]
    }
}

// MARK: - Health and leases

extension PlacementMachine {
    /// The answer to `checkHealth`.
    mutating func checked(_ isGood: Bool, _ name: String, _ now: MonotonicTime) -> [PlacementAction] {
        take(.check(isGood: isGood), of: name, now)
    }

    private mutating func take(_ sign: RouterSign, of name: String, _ now: MonotonicTime) -> [PlacementAction] {
        let change = routers.take(sign, of: name, at: now)
        var actions = change.hasReturned ? returned(name) : []
        if let isAvailable = change.isAvailable { actions.append(.availabilityChanged(isAvailable)) }
        return change.hasDied ? actions + died(name) : actions
    }

    private mutating func returned(_ name: String) -> [PlacementAction] {
        var actions: [PlacementAction] = [.tell(.returned(router: name))]
        for left in routers.takeLeft(at: name) {
            // The next announce replaces it there, or ends it.
            if let replica = participants[left.participant]?.unplaced {
                participants[left.participant]?.takeUp(left, at: name, replica)
            } else {
                actions.append(.withdraw(left, at: name, reason: .moved))
            }
        }
        return actions
    }

    private mutating func died(_ name: String) -> [PlacementAction] {
        var actions: [PlacementAction] = [.tell(.died(router: name))]
        for participant in participants.inOrder {
            let key = participant.id.participant
            for (index, replica) in participant.replicas.enumerated() where replica.standing == name {
                routers.leave(participant.withdrawal, at: name)
                participants[key]?.replicas[index].standing = nil
            }
            for slot in participant.slots where participant.replicas[slot.replica].router == name {
                abandoned.add(slot, of: participant, .moved)
                participants[key]?.leave(slot.replica)
                actions += [.close(slot)] + place(slot)
            }
        }
        return actions
    }

    private func renewLeases() -> [PlacementAction] {
        let inOrder = participants.inOrder
        return routers.alive.map { name in
            .renewLease(router: name, inOrder.flatMap { $0.announcements(at: name) })
        }
    }

    /// A router does not hold any more what was announced to it.
    mutating func lost(_ keys: [ParticipantKey], _ router: String) -> [PlacementAction] {
        var actions: [PlacementAction] = []
        for participant in keys.compactMap({ participants[$0] }) {
            for slot in participant.slots
            where participant.replicas[slot.replica].router == router && participant.replicas[slot.replica].state == .live {
                actions.append(.tell(.lost(participantID: participant.id.participant.participantID, router: router)))
                actions += place(slot)
            }
        }
        return actions
    }

    /// In the order of their names.
    var status: [RouterControl.Status] {
        routers.names.map { name in
            RouterControl.Status(
                name: name, isDead: !routers.isAlive(name), isEligible: routers.isEligible(name),
                participantCount: participants.values.count { $0.isLive(at: name) })
        }
    }
}
