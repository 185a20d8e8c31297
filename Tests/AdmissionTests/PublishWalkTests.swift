import Refusals
import TestSupport
import Testing
import Wire

@testable import Admission

@Suite("Random walks of publishes")
struct PublishWalkTests {
    @Test func `no lease leaks, nobody shares one, and every start has its end, in whatever order things happen`() {
        var counts: [String: Int] = [:]
        for seed in 0..<400 as Range<UInt64> {
            var walk = PublishWalk(seed: seed)
            walk.run(steps: 400)
            #expect(walk.violations == [], "seed \(seed)")
            counts.merge(walk.counts) { $0 + $1 }
        }
        // What the walks are about has happened often.
        let wanted = [
            "start", "start by take-over", "release too late", "wait", "no place", "refuse", "give way", "fail",
            "ended too early",
        ]
        for what in wanted {
            #expect(counts[what, default: 0] > 10, "\(what): \(counts)")
        }
    }
}

/// Publishes of both kinds on two participants, whose answers, ends and orders come late and in any order; what their machines
/// do is judged against a table of leases.
struct PublishWalk {
    private(set) var violations: [String] = []
    /// How often each kind of thing has happened.
    private(set) var counts: [String: Int] = [:]

    /// One publish as its carrier sees it.
    private struct Publish {
        let participant: String
        let isWHIP: Bool
        var machine: PublishMachine
        let holder: Holder
        /// Between `start` and `stop`.
        var lease: PublishLease?
        var starts = 0
        var isInQueue = false
        var claimsTakeOver = false
        /// Actions of a kind that come once at most.
        var lastWords = 0
    }

    private final class Holder: LeaseHolder {
        let number: Int
        let lastProgress: MonotonicTime = .zero
        let hasEnded = false
        init(_ number: Int) { self.number = number }
        func end(_ reason: LeaseEnd) {}
    }

    /// On its way to a publish, in no order.
    private enum Message {
        case authorized
        case examined
        /// The table has still to decide.
        case claim(PublishGrant, takeOver: Bool)
        case claimed(ClaimAnswer)
        case admitted
        case look
        case ready
        case leaseEnded(LeaseEnd)
    }

    private var publishes: [Publish] = []
    private var messages: [(to: Int, Message)] = []
    private var holders: [String: (lease: PublishLease, publish: Int)] = [:]
    private var granted: Set<UInt64> = []
    private var progress: [Int: MonotonicTime] = [:]
    private var now = MonotonicTime(nanoseconds: 1_000_000_000)
    private var generation: UInt64 = 0
    private var generator: SplitMix64

    private static let participants = ["p", "q"]
    private static let maximumQueue = 2

    init(seed: UInt64) { generator = SplitMix64(seed: seed) }

    mutating func run(steps: Int) {
        for _ in 0..<steps {
            step()
            check()
        }
        finish()
    }

    private mutating func step() {
        switch Int.random(in: 0..<100, using: &generator) {
        case 0..<6: begin()
        case 6..<9: leave { $0.ended() }
        case 9..<11: leave { $0.refused(Refusal(.internalError)) }
        case 11..<13: disconnect()
        case 13..<20: now = now + .milliseconds(Int.random(in: 1...1_500, using: &generator))
        case 20..<26: completeFrames()
        default: deliver()
        }
    }

    /// Everybody leaves, everything is answered.
    private mutating func finish() {
        deliverAll()
        check()
        for participant in Self.participants {
            let live = publishes.indices.filter { publishes[$0].lease != nil && publishes[$0].participant == participant }
            if live.count > 1 { violations.append("\(live) are live on \(participant) when all has been told") }
        }
        for index in publishes.indices { perform(publishes[index].machine.ended(), index) }
        deliverAll()
        if !holders.isEmpty || !granted.isEmpty { violations.append("leases leak: \(granted)") }
        for (index, publish) in publishes.enumerated() {
            if !publish.machine.isOver { violations.append("\(index) is not over") }
            if publish.lease != nil { violations.append("\(index) was not stopped") }
            if publish.isInQueue { violations.append("\(index) is in the queue for ever") }
            if publish.starts > 1 { violations.append("\(index) began \(publish.starts) times") }
            if publish.lastWords > 1 { violations.append("\(index) was told \(publish.lastWords) times why it ended") }
        }
    }

    /// Whoever is live has the lease, or is about to hear that it has it no longer.
    private mutating func check() {
        for (index, publish) in publishes.enumerated() {
            guard let lease = publish.lease, holders[publish.participant]?.lease != lease else { continue }
            let isTold = messages.contains { message in
                if case .leaseEnded = message.1 { message.to == index } else { false }
            }
            if !isTold { violations.append("\(index) is live with a lease that is not its own") }
        }
    }

    private mutating func count(_ what: String) { counts[what, default: 0] += 1 }
}

// MARK: - What happens

extension PublishWalk {
    private mutating func begin() {
        let isWHIP = Bool.random(using: &generator)
        var machine = PublishMachine(
            [Secret("a"), Secret("b")], contest: isWHIP ? .winsWhenReady : .outwaits(silence: .seconds(2)))
        let actions = machine.begin()
        publishes.append(
            Publish(
                participant: Self.participants.randomElement(using: &generator) ?? "p", isWHIP: isWHIP, machine: machine,
                holder: Holder(publishes.count)))
        perform(actions, publishes.count - 1)
    }

    private var randomPublish: Int? {
        mutating get { publishes.indices.suffix(12).randomElement(using: &generator) }
    }

    private mutating func leave(_ input: (inout PublishMachine) -> [PublishMachine.Action]) {
        guard let index = randomPublish else { return }
        if publishes[index].machine.lease == nil, !publishes[index].machine.isOver { count("ended too early") }
        perform(input(&publishes[index].machine), index)
    }

    /// An operator takes a lease away.
    private mutating func disconnect() {
        guard let holder = holders.keys.sorted().randomElement(using: &generator).flatMap({ holders.removeValue(forKey: $0) })
        else { return }
        messages.append((holder.publish, .leaseEnded(.disconnected(Refusal(.participantDisconnected)))))
    }

    private mutating func completeFrames() {
        for index in publishes.indices where publishes[index].lease != nil && Bool.random(using: &generator) {
            progress[index] = now
        }
    }

    private mutating func deliver() {
        guard let position = messages.indices.randomElement(using: &generator) else { return }
        let (index, message) = messages.remove(at: position)
        perform(receive(message, index), index)
    }

    /// Time passes: who waits for an incumbent's silence does not do so for ever.
    private mutating func deliverAll() {
        while !messages.isEmpty {
            now = now + .milliseconds(50)
            deliver()
        }
    }

    private mutating func receive(_ message: Message, _ index: Int) -> [PublishMachine.Action] {
        let isSure = Int.random(in: 0..<10, using: &generator) > 0
        switch message {
        case .authorized:
            return publishes[index].machine.authorized(isSure ? .success(grant(index)) : .failure(Refusal(.unknownStreamKey)))
        case .examined: return publishes[index].machine.examined(isSure ? nil : Refusal(.repeatedViolation))
        case .claim(let grant, let takeOver):
            messages.append((index, .claimed(isSure ? decide(grant, takeOver, index) : .refused(Refusal(.stageFull)))))
            return []
        case .claimed(let answer):
            if case .granted = answer, publishes[index].machine.isOver { count("release too late") }
            return publishes[index].machine.claimed(answer, at: now)
        case .admitted: return publishes[index].machine.admittedToQueue(admit(index) ? nil : Refusal(.streamKeyInUse))
        case .look:
            guard let incumbent = publishes[index].machine.incumbent as? Holder else { return [] }
            return publishes[index].machine.looked(
                progress: progress[incumbent.number] ?? .zero, hasEnded: publishes[incumbent.number].machine.isOver, at: now)
        case .ready: return publishes[index].machine.ready()
        case .leaseEnded(let reason): return publishes[index].machine.leaseEnded(reason)
        }
    }

    private func grant(_ index: Int) -> PublishGrant {
        PublishGrant(participantID: publishes[index].participant, stageARN: "arn", stageID: "s", credentialHash: "h")
    }

    /// The table decides at one moment; everybody hears of it later.
    private mutating func decide(_ grant: PublishGrant, _ takeOver: Bool, _ index: Int) -> ClaimAnswer {
        if let incumbent = holders[grant.participantID] {
            guard takeOver else { return .held(by: publishes[incumbent.publish].holder) }
            messages.append((incumbent.publish, .leaseEnded(.takenOver)))
        }
        generation += 1
        let lease = PublishLease(
            participantID: grant.participantID, stageID: "s", stageSessionID: "st-1", generation: generation)
        holders[grant.participantID] = (lease, index)
        granted.insert(generation)
        publishes[index].claimsTakeOver = takeOver
        progress[index] = now
        return .granted(lease)
    }

    private mutating func admit(_ index: Int) -> Bool {
        let participant = publishes[index].participant
        // An over one is admitted to nothing.
        guard !publishes[index].isWHIP, !publishes[index].machine.isOver else { return true }
        let waiting = publishes.count { $0.participant == participant && $0.isInQueue }
        guard waiting < Self.maximumQueue else {
            count("no place")
            return false
        }
        publishes[index].isInQueue = true
        count("wait")
        return true
    }
}

// MARK: - What is to be done

extension PublishWalk {
    private mutating func perform(_ actions: [PublishMachine.Action], _ index: Int) {
        for action in actions {
            switch action {
            case .authorize: messages.append((index, .authorized))
            case .examine: messages.append((index, .examined))
            case .claim(let grant, let takeOver): messages.append((index, .claim(grant, takeOver: takeOver)))
            case .enterQueue: messages.append((index, .admitted))
            case .look: messages.append((index, .look))
            case .leaveQueue: leaveQueue(index)
            case .prepare: messages.append((index, .ready))
            case .start(_, let lease): start(lease, index)
            case .stop: stop(index)
            case .fail(let lease, _):
                count("fail")
                if !granted.contains(lease.generation) { violations.append("\(index) fails without a lease") }
            case .release(let lease): release(lease, index)
            case .refuse: lastWords("refuse", index)
            case .giveWay: lastWords("give way", index)
            }
        }
    }

    private mutating func leaveQueue(_ index: Int) {
        if !publishes[index].isInQueue { violations.append("\(index) leaves a queue that it is not in") }
        publishes[index].isInQueue = false
    }

    private mutating func start(_ lease: PublishLease, _ index: Int) {
        count(publishes[index].claimsTakeOver ? "start by take-over" : "start")
        if !granted.contains(lease.generation) { violations.append("\(index) starts without a lease") }
        publishes[index].lease = lease
        publishes[index].starts += 1
    }

    private mutating func stop(_ index: Int) {
        if publishes[index].lease == nil { violations.append("\(index) stops and has not begun") }
        publishes[index].lease = nil
    }

    private mutating func release(_ lease: PublishLease, _ index: Int) {
        if granted.remove(lease.generation) == nil { violations.append("\(index) releases \(lease.generation) twice") }
        if publishes[index].lease != nil { violations.append("\(index) gives its lease back and is live") }
        if holders[lease.participantID]?.lease == lease { holders[lease.participantID] = nil }
    }

    private mutating func lastWords(_ what: String, _ index: Int) {
        count(what)
        publishes[index].lastWords += 1
        if !publishes[index].machine.isOver { violations.append("\(index) is told why it ended, and is not over") }
    }
}
