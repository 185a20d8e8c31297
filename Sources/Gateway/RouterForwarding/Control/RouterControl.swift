import Admission
public import EventLoop
import GatewayLogging
import StageHub
import Wire

/// Runs a `PlacementMachine` on the control loop: asks the store, the routers and the workers, and brings it their answers.
///
/// Confined to the control loop. Workers send it what happens to their publications; encoders never notice what it does.
public final class RouterControl {
    /// Called with everything that happens to placements and announces.
    public var onStory: (Story) -> Void = { _ in }
    /// Called when it changes whether new publishes have a router to go to; true at first.
    public var onAvailabilityChanged: (Bool) -> Void = { _ in }

    private let loop: EventLoop
    private let placements: any PlacementStore
    private let drivers: [String: any RouterDriver]
    private var machine: PlacementMachine
    /// The worker of each publication, until that ends: where its legs are opened and closed.
    private var workers: [ForwardingID: MailboxSender<LegCommand>] = [:]
    private var mailbox: Mailbox<ForwardingEvent>?
    private var timer: TimerWatch?
    private var waiting: [PlacementAction] = []
    private var isPerforming = false

    /// - Parameter drivers: with different names.
    /// - Throws: when the kernel gives no more descriptors.
    public init(
        loop: EventLoop, drivers: [any RouterDriver], placements: any PlacementStore, replicas: Int = 1
    ) throws(SystemError) {
        (self.loop, self.placements) = (loop, placements)
        self.drivers = Dictionary(drivers.map { ($0.name, $0) }) { first, _ in first }
        machine = PlacementMachine(routers: self.drivers.mapValues(\.hasHealth), replicas: replicas, now: loop.now)
        mailbox = try Mailbox(loop: loop) { [unowned self] in receive($0) }
        timer = loop.schedule(after: .zero) { [unowned self] in perform(machine.timePassed(loop.now)) }
    }

    /// For the workers' forwarders.
    public var sender: MailboxSender<ForwardingEvent> {
        guard let mailbox else { preconditionFailure("made in init") }
        return mailbox.sender
    }

    /// In the order of their names.
    public var status: [Status] { machine.status }

    private func receive(_ event: ForwardingEvent) {
        switch event {
        case .started(let id, let announcement, let worker):
            workers[id] = worker
            perform(machine.started(id, announcement))
        case .changed(let id, let announcement): perform(machine.changed(id, announcement))
        case .feedback(let id, let replica, let moment):
            machine.feedbackCame(of: PlacementSlot(id: id, replica: replica), at: moment)
        case .ended(let id, let reason):
            workers[id] = nil
            perform(machine.ended(id, reason, loop.now))
        }
    }
}

// MARK: - Running

extension RouterControl {
    /// An answer may come while its question is still being asked: what follows from it waits its turn.
    private func perform(_ actions: [PlacementAction]) {
        waiting += actions
        guard !isPerforming else { return }
        isPerforming = true
        while !waiting.isEmpty {
            let next = waiting
            waiting = []
            for action in next { perform(action) }
        }
        isPerforming = false
        timer?.rearm(after: max(.zero, machine.deadline - loop.now))
    }

    private func perform(_ action: PlacementAction) {
        switch action {
        case .look(let question, let key): look(question, key)
        case .move(let question, let key, let record, let next): move(question, key, from: record, to: next)
        case .announce(let announce): self.announce(announce)
        case .update(let announcement, let router): drivers[router]?.update(announcement)
        case .withdraw(let announcement, let router, let reason):
            drivers[router]?.withdraw(announcement, reason: reason)
        case .checkHealth(let router): checkHealth(router)
        case .renewLease(let router, let held): renewLease(router, held)
        case .open(let slot, let plan): workers[slot.id]?.send(.open(slot.id, replica: slot.replica, plan))
        case .close(let slot): workers[slot.id]?.send(.close(slot.id, replica: slot.replica))
        case .tell(let story): onStory(story)
        case .availabilityChanged(let isAvailable): onAvailabilityChanged(isAvailable)
        }
    }

    private func look(_ question: PlacementQuestion, _ key: PlacementKey) {
        placements.placement(of: key) { [weak self] record in
            guard let self else { return }
            let actions = machine.looked(question, record, loop.now, wall: EventLoop.wallNow()) {
                self.placements.isOurs(stageID: key.stageID, since: $0)
            }
            perform(actions)
        }
    }

    private func move(
        _ question: PlacementQuestion, _ key: PlacementKey, from record: PlacementRecord?, to next: PlacementRecord
    ) {
        placements.replace(key, record, with: next) { [weak self] answer in
            guard let self else { return }
            perform(machine.moved(question, answer, loop.now))
        }
    }

    private func announce(_ announce: PlacementAnnounce) {
        drivers[announce.router]?.announce(announce.announcement) { [weak self] result in
            guard let self else { return }
            perform(machine.answered(announce, result, loop.now))
        }
    }

    private func checkHealth(_ router: String) {
        drivers[router]?.checkHealth { [weak self] isGood in
            guard let self else { return }
            perform(machine.checked(isGood, router, loop.now))
        }
    }

    private func renewLease(_ router: String, _ held: [Announcement]) {
        drivers[router]?.renewLease(held) { [weak self] lost in
            guard let self, !lost.isEmpty else { return }
            perform(machine.lost(lost, router))
        }
    }
}

// MARK: - What others see

extension RouterControl {
    /// What happened, for log, events and metrics.
    public enum Story: Sendable, Equatable {
        case announced(participantID: String, router: String, generation: UInt64)
        case announceFailed(participantID: String, router: String, AnnounceFailure)
        case died(router: String)
        case returned(router: String)
        /// No router can take the stage now; it is tried again every second.
        case noRouter(stageID: String)
        case lost(participantID: String, router: String)
    }

    /// A router as operators see it.
    public struct Status: Sendable {
        /// In the configuration.
        public var name: String
        public var isDead: Bool
        /// Whether new stages may be placed there.
        public var isEligible: Bool
        /// Announced and answered there.
        public var participantCount: Int
    }
}

extension RouterControl.Story {
    /// Writes what happened into the log.
    public func log() {
        switch self {
        case .announced(let participantID, let router, let generation):
            Log.event(
                .info, "router_announced",
                [
                    "participant": .string(participantID), "router": .string(router),
                    "generation": .integer(Int(clamping: generation)),
                ])
        case .announceFailed(let participantID, let router, let failure):
            Log.event(
                .warning, "router_announce_failed",
                ["participant": .string(participantID), "router": .string(router), "reason": .string(failure.words)])
        case .died(let router): Log.event(.error, "router_died", ["router": .string(router)])
        case .returned(let router): Log.event(.info, "router_returned", ["router": .string(router)])
        case .noRouter(let stageID): Log.event(.error, "router_missing", ["stage": .string(stageID)])
        case .lost(let participantID, let router):
            Log.event(.warning, "router_lost_participant", ["participant": .string(participantID), "router": .string(router)])
        }
    }
}
