import Admission
public import EventLoop
import StageHub
import Wire

/// Which router each stage goes to, and that it gets there: placement, announces, leases, health, failover (DESIGN.md 6.4).
///
/// Confined to the control loop. Workers tell it of their publications; encoders never notice what it does.
public final class RouterControl {
    public var onStory: (Story) -> Void = { _ in }
    /// Whether new publishes have a router to go to: told when it changes; true at first.
    public var onAvailabilityChanged: (Bool) -> Void = { _ in }

    final class Router {
        let driver: any RouterDriver
        var health = RouterHealth()
        var isChecking = false

        init(_ driver: any RouterDriver) { self.driver = driver }
    }

    let loop: EventLoop
    private let placements: any PlacementStore
    private let replicas: Int
    let routers: [String: Router]
    private(set) var participants: [ParticipantKey: ForwardedParticipant] = [:]
    private var mailbox: Mailbox<ForwardingEvent>?
    private var timers: [TimerWatch] = []
    private var isAvailable = true

    static let leaseInterval = Duration.seconds(5)
    static let retryDelay = Duration.seconds(1)
    static let maximumRetryDelay = Duration.seconds(8)
    static let successorPatience = Duration.seconds(10)

    /// - Parameter drivers: with different names.
    public init(
        loop: EventLoop, drivers: [any RouterDriver], placements: any PlacementStore, replicas: Int = 1
    ) throws(SystemError) {
        (self.loop, self.placements, self.replicas) = (loop, placements, replicas)
        routers = Dictionary(drivers.map { ($0.name, Router($0)) }) { first, _ in first }
        mailbox = try Mailbox(loop: loop) { [unowned self] in receive($0) }
        timers = [
            loop.schedule(after: .zero, repeating: RouterHealth.checkInterval) { [unowned self] in checkHealth() },
            loop.schedule(after: Self.leaseInterval, repeating: Self.leaseInterval) { [unowned self] in
                followPlacements()
                renewLeases()
            },
        ]
    }

    /// For the workers' forwarders.
    public var sender: MailboxSender<ForwardingEvent> {
        guard let mailbox else { preconditionFailure("made in init") }
        return mailbox.sender
    }

    private func receive(_ event: ForwardingEvent) {
        switch event {
        case .started(let id, let announcement, let worker):
            let participant = ForwardedParticipant(id, announcement, worker: worker, replicas: replicas)
            if let former = participants[id.participant] { participant.continues(former) }
            participants[id.participant] = participant
            for replica in 0..<replicas { place(participant, replica) }
        case .changed(let id, let announcement):
            if let participant = current(id) { change(participant, to: announcement) }
        case .feedback(let id, let replica, let moment):
            guard let router = current(id)?.replicas[replica].router else { return }
            routers[router]?.health.feedbackCame(at: moment)
        case .ended(let id, let reason, let keepsAnnounce):
            guard let participant = current(id) else { return }
            participant.cancel()
            if keepsAnnounce { return awaitSuccessor(of: participant) }
            end(participant, reason)
        }
    }

    private func end(_ participant: ForwardedParticipant, _ reason: String) {
        for replica in 0..<replicas { withdraw(participant, replica, reason) }
        participants[participant.id.participant] = nil
    }

    /// A takeover keeps the announce, if the successor comes.
    private func awaitSuccessor(of participant: ForwardedParticipant) {
        participant.replicas[0].retry = loop.schedule(after: Self.successorPatience) { [weak self, weak participant] in
            guard let self, let participant, current(participant.id) === participant else { return }
            end(participant, "takenOver")
        }
    }

    private func current(_ id: ForwardingID) -> ForwardedParticipant? {
        participants[id.participant].flatMap { $0.id == id ? $0 : nil }
    }

    private func change(_ participant: ForwardedParticipant, to announcement: Announcement) {
        let hadTracks = participant.announcement.tracks
        participant.announcement = announcement
        for replica in 0..<replicas where participant.replicas[replica].isLive {
            guard hadTracks == announcement.tracks else {
                announceAgain(participant, replica)
                continue
            }
            driver(of: participant, replica)?.update(participant.announcement(for: replica))
        }
    }

    private func withdraw(_ participant: ForwardedParticipant, _ replica: Int, _ reason: String) {
        driver(of: participant, replica)?.withdraw(participant.announcement(for: replica), reason: reason)
    }

    private func driver(of participant: ForwardedParticipant, _ replica: Int) -> (any RouterDriver)? {
        participant.replicas[replica].router.flatMap { routers[$0]?.driver }
    }
}

// MARK: - Placement

extension RouterControl {
    /// Finds the stage's router, or proposes one, and announces there.
    private func place(_ participant: ForwardedParticipant, _ replica: Int, avoiding avoided: String? = nil) {
        let key = PlacementKey(stageID: participant.stageID, replica: replica)
        placements.placement(of: key) { [weak self, weak participant] record in
            guard let self, let participant, current(participant.id) === participant else { return }
            if let record, record.router != avoided, routers[record.router]?.health.isDead == false {
                return announce(participant, replica, at: record)
            }
            move(key, from: record, for: participant, avoiding: avoided)
        }
    }

    private func move(
        _ key: PlacementKey, from record: Placement?, for participant: ForwardedParticipant, avoiding avoided: String?
    ) {
        guard let router = candidate(for: key, participant, avoiding: avoided) else {
            // Nobody else: the router that did not answer gets another chance.
            if let record, routers[record.router]?.health.isDead == false {
                return retry(participant, key.replica, after: Self.retryDelay)
            }
            onStory(.noRouter(stageID: key.stageID))
            return retry(participant, key.replica, after: Self.retryDelay)
        }
        let wall = EventLoop.wallNow().millisecondsSince1970
        let generation = Generation.next(after: record?.generation, wallMilliseconds: wall)
        placements.replace(key, record, with: Placement(router: router, generation: generation)) {
            [weak self, weak participant] answer in
            guard let self, let participant, current(participant.id) === participant else { return }
            guard case .current(let placement) = answer, routers[placement.router] != nil else {
                return retry(participant, key.replica, after: Self.retryDelay)
            }
            announce(participant, key.replica, at: placement)
        }
    }

    /// The best router by rendezvous that is alive and has no other replica of the stage.
    private func candidate(
        for key: PlacementKey, _ participant: ForwardedParticipant, avoiding avoided: String?
    ) -> String? {
        let taken = participant.replicas.indices.filter { $0 != key.replica }.compactMap { participant.replicas[$0].router }
        let names = eligibleRouters.filter { $0 != avoided && !taken.contains($0) }
        return Rendezvous.ranking(of: names, for: key.stageID).first
    }

    /// Another gateway may have moved a stage while its router was well here, or a move was lost: the record holds.
    private func followPlacements() {
        for participant in participants.values {
            for replica in 0..<replicas where participant.replicas[replica].isLive {
                let key = PlacementKey(stageID: participant.stageID, replica: replica)
                placements.placement(of: key) { [weak self, weak participant] record in
                    guard let self, let participant, let record, current(participant.id) === participant else { return }
                    follow(record, participant, replica)
                }
            }
        }
    }

    private func follow(_ record: Placement, _ participant: ForwardedParticipant, _ replica: Int) {
        guard participant.replicas[replica].isLive, participant.replicas[replica].router != record.router,
            routers[record.router]?.health.isEligible == true
        else { return }
        withdraw(participant, replica, "moved")
        participant.leave(replica)
        participant.worker.send(.close(participant.id, replica: replica))
        announce(participant, replica, at: record)
    }

    private func retry(_ participant: ForwardedParticipant, _ replica: Int, after delay: Duration) {
        participant.replicas[replica].retry = loop.schedule(after: delay) { [weak self, weak participant] in
            guard let self, let participant else { return }
            place(participant, replica)
        }
    }
}

// MARK: - Announces

extension RouterControl {
    private func announce(_ participant: ForwardedParticipant, _ replica: Int, at placement: Placement) {
        guard let router = routers[placement.router] else { return }
        let generation = participant.begin(replica, at: placement)
        router.driver.announce(participant.announcement(for: replica)) { [weak self, weak participant] result in
            guard let self, let participant, current(participant.id) === participant,
                participant.replicas[replica].generation == generation
            else { return }
            answered(result, participant, replica, router.driver.name)
        }
    }

    private func answered(
        _ result: Result<LegPlan, AnnounceFailure>, _ participant: ForwardedParticipant, _ replica: Int, _ router: String
    ) {
        switch result {
        case .success(let plan):
            participant.succeeded(replica)
            participant.worker.send(.open(participant.id, replica: replica, plan))
            onStory(
                .announced(
                    participantID: participant.id.participant.participantID, router: router,
                    generation: participant.replicas[replica].generation))
        case .failure(let failure):
            onStory(.announceFailed(participantID: participant.id.participant.participantID, router: router, failure))
            failed(failure, participant, replica, router)
        }
    }

    /// A router that does not answer is left at once by a stage that has nobody live there (DESIGN.md 6.1).
    private func failed(
        _ failure: AnnounceFailure, _ participant: ForwardedParticipant, _ replica: Int, _ router: String
    ) {
        let delay = participant.failed(replica, staleAt: EventLoop.wallNow(), failure: failure)
        guard failure == .noAnswer else { return retry(participant, replica, after: delay) }
        let hasLive = participants.values.contains { $0.stageID == participant.stageID && $0.isLive(at: router) }
        note(check: false, of: router)
        guard routers[router]?.health.isDead == false else { return }  // its death has moved the stage
        if hasLive { retry(participant, replica, after: delay) } else { place(participant, replica, avoiding: router) }
    }

    private func announceAgain(_ participant: ForwardedParticipant, _ replica: Int) {
        participant.replicas[replica].isLive = false
        place(participant, replica)
    }
}

// MARK: - Health and leases

extension RouterControl {
    private func checkHealth() {
        for (name, router) in routers where router.driver.hasHealth && !router.isChecking {
            router.isChecking = true
            router.driver.checkHealth { [weak self, weak router] isGood in
                router?.isChecking = false
                self?.note(check: isGood, of: name)
            }
        }
    }

    private func note(check isGood: Bool, of name: String) {
        guard let router = routers[name], router.driver.hasHealth else { return }
        let wasDead = router.health.isDead
        let hasDied = router.health.checked(isGood: isGood, at: loop.now)
        if wasDead, !router.health.isDead { onStory(.returned(router: name)) }
        tellAvailability()
        guard hasDied else { return }
        onStory(.died(router: name))
        for participant in participants.values {
            for replica in 0..<replicas where participant.replicas[replica].router == name {
                participant.leave(replica)
                participant.worker.send(.close(participant.id, replica: replica))
                place(participant, replica)
            }
        }
    }

    private func tellAvailability() {
        let isAvailableNow = routers.values.contains { $0.health.isPromising }
        guard isAvailableNow != isAvailable else { return }
        isAvailable = isAvailableNow
        onAvailabilityChanged(isAvailable)
    }

    private func renewLeases() {
        for (name, router) in routers where !router.health.isDead {
            let held = participants.values.flatMap { $0.announcements(at: name) }
            router.driver.renewLease(held) { [weak self] lost in
                for participant in lost { self?.routerLost(participant, name) }
            }
        }
    }

    private func routerLost(_ lost: ParticipantKey, _ router: String) {
        guard let participant = participants[lost] else { return }
        for replica in 0..<replicas where participant.replicas[replica].router == router && participant.replicas[replica].isLive {
            onStory(.lost(participantID: lost.participantID, router: router))
            announceAgain(participant, replica)
        }
    }
}
