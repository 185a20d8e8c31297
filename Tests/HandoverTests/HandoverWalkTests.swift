import Admission
import Settings
import TestSupport
import Testing
import Wire

@testable import Handover
@testable import Store

@Suite("Both sides of a take-over")
struct HandoverWalkTests {
    /// Whose death ends a walk.
    enum Death: CaseIterable {
        case nobody, predecessor, successor
    }

    @Test(.timeLimit(.minutes(10)), arguments: Death.allCases)
    func `whatever happens, one process owns the node and each lease`(death: Death) {
        var takeOvers = 0
        for seed in 0..<1_000 {
            var walk = HandoverWalk(seed: UInt64(seed))
            walk.run(steps: 5 + seed % 200)
            switch death {
            case .nobody: break
            case .predecessor: walk.predecessorDies()
            case .successor: walk.successorDies()
            }
            walk.settle()
            walk.checkTheEnd()
            takeOvers += walk.takeOvers
            #expect(walk.violations == [], "seed \(seed)")
            if !walk.violations.isEmpty { return }
        }
        #expect(takeOvers > 30, "\(takeOvers) successors got the place")
    }
}

/// Two processes of a gateway and the connection between them, of which anything may happen at any moment: messages come late,
/// encoders publish and end, either process dies, either closes. The machines and the lease tables are the real ones.
struct HandoverWalk {
    /// What of a node only one process at a time may have.
    struct Node {
        var isAlive = true
        var hasStore = false
        var admits = false
        var accepts = false
        var reads = false
        var leases = LeaseTable(quotas: QuotaSettings(), sessions: [], lastGeneration: 0, now: HandoverWalk.now)
        /// Leases whose sessions this process has.
        var sessions: Set<PublishLease> = []

        /// Whether everything of the node is this process's.
        var isOwner: Bool { isAlive && hasStore && admits && accepts && reads }

        mutating func die() { self = Node(isAlive: false) }
    }

    /// What the predecessor's own threads are asked to do, in this order.
    private enum Order {
        case suspendStore, resumeStore
        case suspendAccepting(Int), suspendReading(Int), resumeWorkers
    }

    /// What they have done, and say so in this order.
    private enum Completion {
        case storeSuspended, storeResumed
        case workerDone(Int)
    }

    static let now = WallTime(secondsSince1970: 1_000_000)
    private static let participants = ["a", "b", "c"]
    private static let stage = "arn:aws:ivs:us-east-1:000000000000:stage/s"

    private(set) var violations: [String] = []
    private(set) var log: [String] = []
    private(set) var predecessor = Node(hasStore: true, admits: true, accepts: true, reads: true)
    private(set) var successor = Node(isAlive: false)
    private(set) var machine = HandoverMachine(workers: 2)
    private(set) var steps = SuccessionMachine()
    /// How often a successor got the place.
    private(set) var takeOvers = 0
    private var random: SplitMix64

    // The connection: what each has still to read of it, and whether each knows that it is over.
    private var toPredecessor: [HandoverMessage] = []
    private var toSuccessor: [HandoverMessage] = []
    private var isOpen = false
    private var predecessorIsConnected = false
    private var successorIsConnected = false

    private var orders: [Order] = []
    private var completions: [Completion] = []
    private var isWoken = false
    /// The predecessor tells its leases.
    private var relays = false
    private var isDraining = false
    /// Each has seen the end of the connection, and not yet that of the other process.
    private var predecessorAwaitsGone = false
    private var successorAwaitsGone = false
    /// The successor has asked for the store, and was given the place.
    private var hasPrepared = false
    private var isInPlace = false
    /// Leases of the predecessor that the successor took over, until their sessions hear of it.
    private var displaced: Set<PublishLease> = []

    init(seed: UInt64) { random = SplitMix64(seed: seed) }

    // MARK: - Running

    mutating func run(steps count: Int) {
        for _ in 0..<count where predecessor.isAlive { happen() }
    }

    /// One thing that may happen now, at random.
    private mutating func happen() {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<22: if !toPredecessor.isEmpty { deliverToPredecessor() }
        case 22..<44: if !toSuccessor.isEmpty { deliverToSuccessor() }
        case 44..<52: work()
        case 52..<60: complete()
        case 60..<67: publish()
        case 67..<72: unpublish()
        case 72..<80: start()
        case 80..<84: noticeTheEnd()
        case 84: if happens(oneIn: 3) { successorDies() }
        case 85: if happens(oneIn: 16) { predecessorDies() }
        case 86: if isWoken, happens(oneIn: 4) { wake() }
        case 87: if successorIsConnected, isInPlace, happens(oneIn: 3) { close("the successor") }
        case 88: if predecessorIsConnected, happens(oneIn: 4) { close("the predecessor") }
        default: proceed()
        }
        check()
    }

    private mutating func happens(oneIn count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

    /// Everything comes to its end of which nobody has to decide.
    mutating func settle() {
        for _ in 0..<1_000 {
            if !toSuccessor.isEmpty {
                deliverToSuccessor()
            } else if !toPredecessor.isEmpty {
                deliverToPredecessor()
            } else if !orders.isEmpty {
                work()
            } else if !completions.isEmpty {
                complete()
            } else if !isOpen, hasEndToNotice {
                noticeTheEnd()
            } else if successor.isAlive, successorIsConnected, !steps.isWaiting, !isInPlace {
                proceed()
            } else if isWoken, !isOpen {
                wake()
            } else {
                return check()
            }
            check()
        }
        violated("it does not settle")
    }

    // MARK: - The two processes

    /// A successor connects.
    private mutating func start() {
        guard predecessor.isAlive, !successor.isAlive, machine.obstacle == nil, !isOpen else { return }
        note("a successor starts")
        (successor, steps) = (Node(), SuccessionMachine())
        (toPredecessor, toSuccessor) = ([], [])
        (isOpen, predecessorIsConnected, successorIsConnected) = (true, true, true)
        (hasPrepared, isInPlace) = (false, false)
        perform(machine.connected(obstacle: nil))
        toPredecessor.append(steps.greet(process: 2))
    }

    /// The successor takes its next step, when the last one is answered.
    private mutating func proceed() {
        guard successor.isAlive, successorIsConnected, !steps.isWaiting, !isInPlace else { return }
        if hasPrepared {
            successor.hasStore = true
            say(steps.takePlace())
        } else {
            hasPrepared = true
            say(steps.prepare())
        }
    }

    private mutating func say(_ message: HandoverMessage) { if isOpen { toPredecessor.append(message) } }
    private mutating func answer(_ message: HandoverMessage) { if isOpen { toSuccessor.append(message) } }

    private mutating func deliverToPredecessor() {
        let message = toPredecessor.removeFirst()
        guard predecessor.isAlive, predecessorIsConnected else { return }
        perform(machine.received(message))
    }

    private mutating func deliverToSuccessor() {
        let message = toSuccessor.removeFirst()
        guard successor.isAlive, successorIsConnected else { return }
        guard !isInPlace else { return adopt(message) }
        do {
            let descriptors = if case .sockets(let roles) = message { roles.count } else { 0 }
            if let news = try steps.received(message, descriptors: descriptors) { adopt(news) }
            guard message == .yours else { return }
            isInPlace = true
            takeOvers += 1
            note("the successor has the place")
            (successor.admits, successor.accepts, successor.reads) = (true, true, true)
        } catch {
            note("the successor gives up: \(error)")
            successorDies()
        }
    }

    /// As `Predecessor` does.
    private mutating func adopt(_ message: HandoverMessage) {
        switch message {
        case .lease(let handed): successor.leases.adopt(handed, holder: Holder())
        case .released(let lease): successor.leases.forget(lease, now: Self.now)
        case .left, .predecessors, .reservation: break
        default: violated("\(message) was told")
        }
    }

    // MARK: - Ends

    mutating func successorDies() {
        guard successor.isAlive else { return }
        note("the successor dies")
        successor.die()
        (successorIsConnected, successorAwaitsGone, displaced) = (false, false, [])
        cut()
    }

    mutating func predecessorDies() {
        guard predecessor.isAlive else { return }
        note("the predecessor dies")
        predecessor.die()
        (predecessorIsConnected, predecessorAwaitsGone, displaced) = (false, false, [])
        (orders, completions, isWoken) = ([], [], false)
        cut()
    }

    private mutating func close(_ name: String) {
        note("\(name) closes")
        cut()
    }

    /// What was said is still read, and then both see the end.
    private mutating func cut() { isOpen = false }

    private var hasEndToNotice: Bool {
        predecessorIsConnected || successorIsConnected || predecessorAwaitsGone && !successor.isAlive
            || successorAwaitsGone && !predecessor.isAlive
    }

    /// The end of the connection, and of the other process, comes to whoever has read everything.
    private mutating func noticeTheEnd() {
        guard !isOpen else { return }
        if predecessorIsConnected, toPredecessor.isEmpty {
            (predecessorIsConnected, predecessorAwaitsGone) = (false, true)
            perform(machine.closed(isDrained: isDrained))
        } else if predecessorAwaitsGone, !successor.isAlive {
            predecessorAwaitsGone = false
            perform(machine.gone())
        }
        if successorIsConnected, toSuccessor.isEmpty {
            (successorIsConnected, successorAwaitsGone) = (false, true)
            if !isInPlace { successorDies() }
        } else if successorAwaitsGone, !predecessor.isAlive {
            successorAwaitsGone = false
            // What the predecessor did not give back itself died with it.
            for entry in successor.leases.held.values where !successor.sessions.contains(entry.lease) {
                _ = successor.leases.release(entry.lease, now: Self.now)
            }
        }
    }

    private var isDrained: Bool { isDraining && predecessor.sessions.isEmpty }

    private mutating func wake() {
        isWoken = false
        perform(machine.timePassed())
    }

    private mutating func work() {
        guard !orders.isEmpty else { return }
        switch orders.removeFirst() {
        case .suspendStore:
            predecessor.hasStore = false
            completions.append(.storeSuspended)
        case .resumeStore:
            predecessor.hasStore = true
            completions.append(.storeResumed)
        case .suspendAccepting(let step):
            predecessor.accepts = false
            completions += [.workerDone(step), .workerDone(step)]
        case .suspendReading(let step):
            predecessor.reads = false
            completions += [.workerDone(step), .workerDone(step)]
        case .resumeWorkers: (predecessor.accepts, predecessor.reads) = (true, true)
        }
    }

    private mutating func complete() {
        guard !completions.isEmpty else { return }
        switch completions.removeFirst() {
        case .storeSuspended: perform(machine.storeSuspended())
        case .storeResumed:
            let hasFailed = happens(oneIn: 4)
            let recovered = EmbeddedStore.Recovered(activeSessions: [], highestGeneration: 0)
            perform(machine.storeResumed(hasFailed ? .failure(.closed) : .success(recovered)))
        case .workerDone(let step): perform(machine.workerDone(step: step))
        }
    }

    // MARK: - The predecessor's node, as the machine has it

    private mutating func perform(_ actions: [HandoverMachine.Action]) {
        for action in actions { perform(action) }
    }

    private mutating func perform(_ action: HandoverMachine.Action) {
        switch action {
        case .send(let message): answer(message)
        case .offer:
            answer(.offer(HandoverOffer(generation: 0, workers: 2, descriptors: 2, sessionKey: [])))
            answer(.sockets([SocketRole(.rtmp), SocketRole(.lock)]))
        case .tellLiving: answer(.living([]))
        case .close: cut()
        case .suspendStore: orders.append(.suspendStore)
        case .resumeStore: orders.append(.resumeStore)
        case .takeBack(let recovered):
            relays = false
            predecessor.leases.takeBack(recovered, now: Self.now)
            predecessor.admits = true
        case .admit(false): predecessor.admits = false
        case .suspendAccepting(let step): orders.append(.suspendAccepting(step))
        case .relay:
            relays = true
            for entry in predecessor.leases.held.values { tell(entry.lease) }
        case .suspendReading(let step): orders.append(.suspendReading(step))
        case .resumeWorkers: orders.append(.resumeWorkers)
        case .end(let lease, _): if predecessor.sessions.contains(lease) { end(lease) }
        case .outlive: isDraining = true
        case .comeBack: isDraining = false
        case .terminate, .abandon: predecessorDies()
        case .wake(let delay): isWoken = delay != nil
        case .clear: isWoken = false
        case .tellReservations, .tellPlacements, .tellPredecessors, .tellProgress, .tellPredecessor, .suspendAdministration,
            .resumeAdministration, .admit(true), .listen, .passName, .takeBackName, .forgetConnection, .accept, .log:
            break
        case .refuse, .answer: violated("\(action)")
        }
    }

    // MARK: - Encoders

    /// Somebody publishes, at whoever would take it.
    private mutating func publish() {
        guard let name = Self.participants.randomElement(using: &random) else { return }
        let takesOver = Bool.random(using: &random)
        if predecessor.admits, predecessor.accepts, !relays { claim(name, at: \.predecessor, takesOver: false) }
        if successor.admits { claim(name, at: \.successor, takesOver: takesOver) }
    }

    private mutating func claim(_ name: String, at process: WritableKeyPath<HandoverWalk, Node>, takesOver: Bool) {
        let grant = PublishGrant(participantID: name, stageARN: Self.stage, stageID: "s", credentialHash: "")
        let incumbent = sessions(of: name).first
        if takesOver, incumbent.map(successor.sessions.contains) == true { return }
        let outcome = self[keyPath: process].leases.claim(grant, .rtmp, Holder(), takeOver: takesOver, now: Self.now)
        guard case .granted(let lease) = outcome.answer else { return }
        if let incumbent {
            if !takesOver { violated("\(name) publishes twice") }
            displaced.insert(incumbent)
            say(.end(incumbent, .takenOver))
        }
        _ = self[keyPath: process].leases.started(lease, now: Self.now)
        self[keyPath: process].sessions.insert(lease)
    }

    /// Those that nobody has taken over.
    private func sessions(of name: String) -> Set<PublishLease> {
        predecessor.sessions.union(successor.sessions).subtracting(displaced).filter { $0.participantID == name }
    }

    /// A session ends by itself, and gives its lease back.
    private mutating func unpublish() {
        if let lease = predecessor.sessions.randomElement(using: &random) {
            end(lease)
        } else if let lease = successor.sessions.randomElement(using: &random) {
            successor.sessions.remove(lease)
            _ = successor.leases.release(lease, now: Self.now)
        }
    }

    private mutating func end(_ lease: PublishLease) {
        predecessor.sessions.remove(lease)
        displaced.remove(lease)
        _ = predecessor.leases.release(lease, now: Self.now)
        if relays { answer(.released(lease)) }
        if isDrained { perform(machine.drained()) }
    }

    private mutating func tell(_ lease: PublishLease) {
        if let handed = predecessor.leases.handed(lease) { answer(.lease(handed)) }
    }

    // MARK: - What must hold

    private mutating func check() {
        if predecessor.hasStore && successor.hasStore { violated("both have the store") }
        if predecessor.admits && successor.admits { violated("both admit") }
        if predecessor.accepts && successor.accepts { violated("both accept") }
        if predecessor.reads && successor.reads { violated("both read") }
        for name in Self.participants {
            let count = sessions(of: name).count
            if count > 1 { violated("\(name) has \(count) owners") }
        }
        if successor.admits { checkLeases() }
    }

    /// Whoever admits knows every lease, but those whose end or whose new state is on its way.
    private mutating func checkLeases() {
        let known = Set(successor.leases.held.values.map(\.lease))
        let unknown = predecessor.sessions.union(successor.sessions).subtracting(known).subtracting(displaced)
        if !unknown.isEmpty { violated("the successor does not know \(unknown.map(\.participantID))") }
    }

    /// What must hold once everything has settled.
    mutating func checkTheEnd() {
        if predecessor.isAlive, successor.isAlive, predecessorIsConnected != successorIsConnected {
            violated("one of them thinks that they are connected")
        }
        let owners = [predecessor, successor].filter(\.isOwner)
        if predecessor.isAlive || successor.isAlive && isInPlace {
            if owners.count != 1 { violated("\(owners.count) own the node") }
        } else if successor.isAlive {
            violated("a successor lives on that never got the place")
        }
        for owner in owners {
            let leases = Set(owner.leases.held.values.map(\.lease))
            if leases != predecessor.sessions.union(successor.sessions) { violated("leases without sessions, or vice versa") }
        }
    }

    private mutating func violated(_ what: String) {
        if violations.count < 5 { violations.append("\(what), after: \(log.suffix(8))") }
    }

    private mutating func note(_ what: String) { log.append(what) }

    private final class Holder: LeaseHolder {
        let lastProgress = MonotonicTime.zero
        let hasEnded = false
        func end(_ reason: LeaseEnd) {}
    }
}
