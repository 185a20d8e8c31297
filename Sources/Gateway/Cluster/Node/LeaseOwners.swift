import Settings
import Wire

/// The nodes that own leases which somebody here waits for: what each was asked, and when it last answered.
struct LeaseOwners: Sendable {
    enum Asker: Equatable, Sendable {
        case claim(Int)
        case watch(Int)
    }

    struct Question: Sendable {
        let asker: Asker
        let askedAt: MonotonicTime
    }

    /// A lease for whose end somebody here waits.
    private struct Watch {
        let remote: RemoteLease
        var asksAt: MonotonicTime
        let endsAt: MonotonicTime
    }

    private let nodeID: String
    /// How long an owner may take to answer.
    private let patience: Duration
    private var questions: [Int: Question] = [:]
    private var watches: [Int: Watch] = [:]
    /// When each node last answered.
    private var answeredAt = FadingTable<String, MonotonicTime>(maximumCount: maximumPresent, lifetime: presence)
    /// Questions and watches are numbered together.
    private var lastNumber = 0

    init(askedBy settings: NodeSettings) {
        (nodeID, patience) = (settings.nodeID, settings.cluster.ownerPatience)
    }

    /// When a question has waited long enough, or a watch asks again.
    var deadline: MonotonicTime? {
        let question = questions.values.lazy.map(\.askedAt).min().map { $0 + patience }
        let watch = watches.values.lazy.map(\.asksAt).min()
        return [question, watch].compactMap { $0 }.min()
    }

    func hasJustAnswered(_ node: String, _ now: MonotonicTime) -> Bool {
        answeredAt.glimpse(of: node).map { now - $0 < Self.presence } ?? false
    }

    mutating func noteAnswer(of node: String, _ now: MonotonicTime) { answeredAt.set(now, for: node, at: now) }

    // MARK: - Questions

    mutating func ask(_ remote: RemoteLease, for asker: Asker, _ now: MonotonicTime) -> NodeMessage.Question {
        lastNumber += 1
        questions[lastNumber] = Question(asker: asker, askedAt: now)
        return NodeMessage.Question(number: lastNumber, node: nodeID, lease: remote.lease)
    }

    /// - Returns: nil for an answer that came too late.
    mutating func takeQuestion(_ number: Int) -> Question? { questions.removeValue(forKey: number) }

    /// Takes the questions that have waited long enough; in the order in which they were asked.
    mutating func takeUnanswered(_ now: MonotonicTime) -> [(number: Int, asker: Asker)] {
        let unanswered = questions.filter { now >= $0.value.askedAt + patience }.inOrder
        for question in unanswered { questions[question.key] = nil }
        return unanswered.map { ($0.key, $0.value.asker) }
    }

    /// How often, and for how long, the owner of a lease is asked about it while somebody here waits for it.
    static let watchInterval = Duration.milliseconds(250)
    static let watchLifetime = Duration.seconds(30)
    /// A node that answered so lately is there to say what it has lost. Less than the silence after which the other half of a
    /// pair takes over, whose node may be dead; what both say counts once.
    static let presence = Duration.milliseconds(750)
    /// Nodes whose last answers are remembered.
    static let maximumPresent = 4_096
}

// MARK: - Watches

extension LeaseOwners {
    /// Somebody waits for the end of that lease: its owner is asked again and again.
    mutating func watch(_ remote: RemoteLease, _ now: MonotonicTime) -> Int {
        lastNumber += 1
        watches[lastNumber] = Watch(remote: remote, asksAt: now + Self.watchInterval, endsAt: now + Self.watchLifetime)
        return lastNumber
    }

    mutating func endWatch(_ number: Int) { watches[number] = nil }

    mutating func askForWatches(_ now: MonotonicTime) -> [ClusterAction] {
        var actions: [ClusterAction] = []
        for (number, watch) in watches.inOrder where now >= watch.asksAt {
            guard now < watch.endsAt else {
                watches[number] = nil
                continue
            }
            watches[number]?.asksAt = now + Self.watchInterval
            actions.append(.send(.ask(ask(watch.remote, for: .watch(number), now)), to: watch.remote.node))
        }
        return actions
    }

    /// What the owner of a watched lease has answered.
    mutating func answered(
        _ holding: NodeMessage.Holding, ofWatch number: Int, askedAt: MonotonicTime, _ now: MonotonicTime
    ) -> [ClusterAction] {
        guard let watch = watches[number] else { return [] }
        noteAnswer(of: watch.remote.node, now)
        switch holding {
        // Reckoned from when it was asked: an old sign of life never counts as a new one.
        case .live(let age): return [.progressed(watch: number, askedAt - age)]
        case .gone: return [.gone(watch: number)]
        }
    }
}
