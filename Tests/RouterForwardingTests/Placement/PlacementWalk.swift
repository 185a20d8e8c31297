import Admission
import StageHub
import TestSupport
import Wire

@testable import RouterForwarding

/// A random walk of a `PlacementMachine` through publications, takeovers, crashes of routers and answers that come late and in
/// any order; what the machine does is judged against what the routers hold.
struct PlacementWalk {
    private(set) var violations: [String] = []
    /// How often each kind of thing has happened.
    private(set) var counts: [String: Int] = [:]

    /// A router as docs/stage-router.md has it: a crash forgets everything.
    private struct Router {
        var isUp = true
        /// Requests that were on their way in a crash are lost with it.
        var crashes = 0
        /// By participant: the generation.
        var held: [String: UInt64] = [:]
        /// Lost in a crash, and not announced since.
        var forgotten: Set<String> = []
    }

    private enum Asked {
        case look(PlacementQuestion, PlacementKey)
        case move(PlacementQuestion, PlacementKey, from: PlacementRecord?, to: PlacementRecord)
        case announce(PlacementAnnounce, crashes: Int)
        case check(String)
        case lost([String], String)
    }

    private var machine: PlacementMachine
    private let replicas: Int
    private var generator: SplitMix64
    private var now = MonotonicTime(nanoseconds: 1_000_000_000)
    private var serial: UInt64 = 0
    private var records: [PlacementKey: PlacementRecord] = [:]
    private var routers: [String: Router]
    private var asked: [Asked] = []
    private var publications: [String: (id: ForwardingID, announcement: Announcement)] = [:]
    /// Taken over, and their successors have not come.
    private var leaving: [String: ForwardingID] = [:]
    private var leases: [String: UInt64] = [:]
    private var highest: [PlacementSlot.Name: UInt64] = [:]
    private var opened: Set<PlacementAnnounce.ID> = []

    private static let participants = ["p", "q", "r", "t"]

    init(seed: UInt64, replicas: Int) {
        (generator, self.replicas) = (SplitMix64(seed: seed), replicas)
        routers = ["a": Router(), "b": Router(), "c": Router(), "d": Router()]
        machine = PlacementMachine(routers: routers.mapValues { _ in true }, replicas: replicas, now: now)
    }

    private var wall: WallTime { WallTime(nanosecondsSince1970: now.nanoseconds) }

    mutating func run(steps: Int) {
        for _ in 0..<steps { step() }
        finish()
    }

    private mutating func step() {
        switch Int.random(in: 0..<100, using: &generator) {
        case 0..<8: publish()
        case 8..<11: end(.unpublished)
        case 11..<14: end(.takenOver)
        case 14..<18: change()
        case 18..<20: crash()
        case 20..<26: restart()
        case 26..<28: moveElsewhere()
        case 28..<32: feedback()
        case 32..<50: pass(.milliseconds(Int.random(in: 1...1500, using: &generator)))
        default: answer()
        }
    }

    /// Everybody leaves, everything is answered.
    private mutating func finish() {
        for participant in publications.keys.sorted() { end(participant, .unpublished) }
        for name in routers.keys { routers[name]?.isUp = true }
        for _ in 0..<200 {
            while !asked.isEmpty { answer() }
            pass(.milliseconds(500))
        }
        if !machine.isIdle { violations.append("what began has not ended: \(machine.participants.keys.map(\.name).sorted())") }
        for (name, router) in routers where !router.held.isEmpty {
            violations.append("\(name) still holds \(router.held)")
        }
    }

    private static func key(_ participant: String) -> ParticipantKey {
        ParticipantKey(participant, onStage: ["p", "q"].contains(participant) ? "s" : "x")
    }

    private mutating func count(_ what: String) { counts[what, default: 0] += 1 }
}

// MARK: - What happens

extension PlacementWalk {
    private mutating func publish() {
        guard let participant = Self.participants.randomElement(using: &generator) else { return }
        serial += 1
        let id = ForwardingID(participant: Self.key(participant), serial: serial)
        // A lease is above the participant's last one; once a publication has ended, also above what was announced of it.
        let isTakeover = publications[participant] != nil || leaving[participant] != nil
        let last = isTakeover ? 0 : highest.filter { $0.key.participant == participant }.values.max() ?? 0
        let lease = max(leases[participant, default: 0], last) + 1
        leases[participant] = lease
        let announcement = Announcement.of(participant, stage: Self.key(participant).stageID, generation: lease)
        (publications[participant], leaving[participant]) = ((id, announcement), nil)
        count(isTakeover ? "takeover" : "publish")
        perform(machine.started(id, announcement))
    }

    private mutating func end(_ reason: WithdrawalReason) {
        if let participant = publications.keys.sorted().randomElement(using: &generator) {
            end(participant, reason)
        }
    }

    private mutating func end(_ participant: String, _ reason: WithdrawalReason) {
        guard let publication = publications.removeValue(forKey: participant) else { return }
        if reason == .takenOver { leaving[participant] = publication.id }
        count("end")
        perform(machine.ended(publication.id, reason, now))
    }

    private mutating func change() {
        guard let participant = publications.keys.sorted().randomElement(using: &generator),
            let (id, former) = publications[participant]
        else { return }
        var announcement = former
        if Bool.random(using: &generator) {
            announcement.muted.formSymmetricDifference([.video])
        } else {
            announcement.formats[.audio] = announcement.formats[.audio] == nil ? .opus(isStereo: true) : nil
        }
        publications[participant] = (id, announcement)
        perform(machine.changed(id, announcement))
    }

    private mutating func crash() {
        guard let name = routers.keys.sorted().randomElement(using: &generator), var router = routers[name] else { return }
        router.forgotten.formUnion(router.held.keys)
        (router.held, router.isUp, router.crashes) = ([:], false, router.crashes + 1)
        routers[name] = router
        count("crash")
    }

    private mutating func restart() {
        if let name = routers.keys.sorted().randomElement(using: &generator) { routers[name]?.isUp = true }
    }

    /// Another gateway's compare-and-swap. With replicas it would have to look at all records of the stage.
    private mutating func moveElsewhere() {
        guard replicas == 1, let key = records.keys.sorted(by: { $0.stageID < $1.stageID }).randomElement(using: &generator),
            let record = records[key], let router = routers.keys.sorted().randomElement(using: &generator)
        else { return }
        records[key] = PlacementRecord(router: router, generation: record.generation + 1)
        count("moved elsewhere")
    }

    private mutating func feedback() {
        for (id, _) in publications.values {
            let slot = PlacementSlot(id: id, replica: 0)
            guard let router = machine.participants[id.participant]?.replicas[0].router, routers[router]?.isUp == true else {
                continue
            }
            machine.feedbackCame(of: slot, at: now)
        }
    }

    private mutating func pass(_ duration: Duration) {
        let end = now + duration
        while machine.deadline <= end {
            now = max(now, machine.deadline)
            perform(machine.timePassed(now))
        }
        now = end
        for (participant, id) in leaving where machine.participants[Self.key(participant)]?.id != id {
            leaving[participant] = nil
        }
    }

    private mutating func answer() {
        guard !asked.isEmpty else { return }
        let index = Int.random(in: 0..<asked.count, using: &generator)
        switch asked.remove(at: index) {
        case .look(let question, let key): perform(machine.looked(question, records[key], now, wall: wall) { _ in true })
        case .move(let question, let key, let from, let to): perform(machine.moved(question, replace(key, from, to), now))
        case .announce(let announce, let crashes):
            perform(machine.answered(announce, post(announce, crashes), now))
        case .check(let name): perform(machine.checked(routers[name]?.isUp == true, name, now))
        case .lost(let participants, let name): perform(machine.lost(participants.map(Self.key), name))
        }
    }

    private mutating func replace(
        _ key: PlacementKey, _ from: PlacementRecord?, _ to: PlacementRecord
    ) -> PlacementAnswer {
        if Int.random(in: 0..<10, using: &generator) == 0 { return .unavailable }
        if records[key] == from { records[key] = to }
        return records[key].map { .current($0) } ?? .unavailable
    }

    private mutating func post(_ announce: PlacementAnnounce, _ crashes: Int) -> Result<LegPlan, AnnounceFailure> {
        let (participant, generation) = (announce.slot.id.participant.participantID, announce.announcement.generation)
        guard var router = routers[announce.router], router.isUp else { return .failure(.noAnswer) }
        if let held = router.held[participant], held > generation { return .failure(.staleGeneration) }
        if router.crashes != crashes || Int.random(in: 0..<8, using: &generator) == 0 {
            count("refused")
            return .failure(.refused(status: 503))
        }
        router.held[participant] = generation
        router.forgotten.remove(participant)
        routers[announce.router] = router
        count("announced")
        return .success(LegPlan(cname: participant, tracks: []))
    }
}

// MARK: - What is done

extension PlacementWalk {
    private mutating func perform(_ actions: [PlacementAction]) {
        for action in actions { perform(action) }
        judgeState()
    }

    private mutating func perform(_ action: PlacementAction) {
        switch action {
        case .look(let question, let key): asked.append(.look(question, key))
        case .move(let question, let key, let from, let to): asked.append(.move(question, key, from: from, to: to))
        case .announce(let announce): judge(announce)
        case .withdraw(let announcement, let router, _): delete(announcement, at: router)
        case .checkHealth(let router): asked.append(.check(router))
        case .renewLease(let router, let held): judge(lease: held, at: router)
        case .open(let slot, _): judge(opened: slot)
        case .tell(let story): if case .died = story { count("died") }
        case .update, .close, .availabilityChanged: break
        }
    }

    /// The generation never goes back, within a publication and its successors and, because leases are above it, beyond them.
    private mutating func judge(_ announce: PlacementAnnounce) {
        let name = PlacementSlot.Name(participant: announce.slot.id.participant.participantID, replica: announce.slot.replica)
        let generation = announce.announcement.generation
        if generation <= highest[name] ?? 0 { violations.append("\(announce.id) goes back from \(highest[name] ?? 0)") }
        highest[name] = generation
        asked.append(.announce(announce, crashes: routers[announce.router]?.crashes ?? 0))
    }

    /// Each announce is withdrawn once at most, and none that a live publication has.
    private mutating func delete(_ announcement: Announcement, at name: String) {
        guard var router = routers[name], router.isUp else { return }
        let participant = announcement.participantID
        count("withdrawn")
        if let held = router.held.removeValue(forKey: participant) {
            if held > announcement.generation { violations.append("\(name) refuses the end of \(participant): it holds \(held)") }
        } else if router.forgotten.remove(participant) == nil {
            violations.append("\(participant) is withdrawn from \(name), which has nothing of it")
        }
        routers[name] = router
        if machine.participants[Self.key(participant)]?.isLive(at: name) == true {
            violations.append("\(participant) is live at \(name), and withdrawn there")
        }
    }

    /// A lease names what the router holds, each once.
    private mutating func judge(lease held: [Announcement], at name: String) {
        guard let router = routers[name] else { return }
        if Set(held.map(\.participantID)).count < held.count { violations.append("\(name)'s lease names somebody twice") }
        for announcement in held where !router.forgotten.contains(announcement.participantID) {
            let generation = router.held[announcement.participantID]
            if router.isUp, generation != announcement.generation {
                violations.append(
                    "\(name)'s lease names \(announcement.participantID) \(announcement.generation), not \(generation ?? 0)")
            }
        }
        let lost = held.map(\.participantID).filter(router.forgotten.contains)
        if router.isUp, !lost.isEmpty { asked.append(.lost(lost, name)) }
    }

    /// A leg is opened once for each generation, and for the latest publication only.
    private mutating func judge(opened slot: PlacementSlot) {
        let participant = slot.id.participant.participantID
        let isCurrent = publications[participant]?.id == slot.id || leaving[participant] == slot.id
        if !isCurrent { violations.append("a leg of \(slot) is opened, which is not \(participant)'s latest") }
        guard let replica = machine.participants[Self.key(participant)]?.replicas[slot.replica] else { return }
        if !opened.insert(PlacementAnnounce.ID(slot: slot, generation: replica.generation)).inserted {
            violations.append("two legs of \(slot) have generation \(replica.generation)")
        }
    }

    /// No two replicas of a participant are at one router.
    private mutating func judgeState() {
        for participant in machine.participants.values {
            let places = participant.replicas.filter { $0.state == .live || $0.state == .announcing }.compactMap(\.router)
            if Set(places).count < places.count { violations.append("\(participant.id) is twice at one of \(places)") }
        }
    }
}

extension PlacementSlot {
    /// A replica of a participant, whatever the publication.
    fileprivate struct Name: Hashable {
        var participant: String
        var replica: Int
    }
}
