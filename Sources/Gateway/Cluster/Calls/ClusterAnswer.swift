import Redis

/// What the server answers to a `ClusterCall`.
enum ClusterAnswer: Equatable, Sendable {
    case claimed(ClaimResult)
    /// In the order of the leases that were asked for.
    case renewed([Renewal])
    case ended([RemoteLease])
    /// - Parameter left: how many leases of the node are still there; of those that have expired the history has to be told.
    case swept(left: Int, [EndedLease])
    case idle(Idleness)
    case looked(StageView)
    case names([String])
    /// How long ago; nil where the servers do not know the node.
    case heard(Duration?)
    case nodes([String: String])
    /// False for a node that has come back.
    case buried(Bool)
    /// Carried out, and nothing that matters is answered.
    case done

    /// What became of a claim.
    enum ClaimResult: Equatable, Sendable {
        case granted(GrantedLease)
        /// - Parameter remaining: until the lease ends if nobody renews it; zero where it has ended, and is kept for its node.
        case held(by: RemoteLease, remaining: Duration)
        /// The stage has as many publishers as it may have.
        case full
        /// Somebody unknown may hold it.
        case wait
    }

    /// What the winner of a claim gets.
    struct GrantedLease: Equatable, Sendable {
        var generation: UInt64
        var session: SharedSession
        /// Whose lease was there.
        var displaced: Displaced?
    }

    /// The lease that a granted one came in place of, live or not.
    struct Displaced: Equatable, Sendable {
        var node: String
        var lease: EndedLease
    }

    /// What the server found of one lease that it was asked to renew.
    enum Renewal: Equatable, Sendable {
        case ok
        /// Another node has the participant's lease now, under this generation.
        case lost(generation: UInt64)
        /// It is held still, and has to end.
        case end(LeaseEnding)
        /// The history may say that it left: it goes on under this generation.
        case revived(generation: UInt64)

        var isLost: Bool { if case .lost = self { true } else { false } }
    }

    /// Whether a stage's session is over.
    enum Idleness: Equatable, Sendable {
        /// Somebody publishes there.
        case live
        /// No session runs.
        case none
        /// It may be over after that time.
        case wait(Duration)
        /// With the leases that had expired by then and that nobody had swept.
        case ended(sessionID: String, [EndedLease])
    }

    /// A stage as it is now.
    struct StageView: Equatable, Sendable {
        /// Nil while none runs.
        var session: SharedSession?
        /// Whether the history knows the session.
        var isRecorded: Bool
        /// The ids of those who publish there.
        var participants: Set<String>
    }
}

/// A lease and the node that has it.
struct RemoteLease: Hashable, Sendable {
    var node: String
    var lease: LeaseIdentity

    init(node: String, _ lease: LeaseIdentity) { (self.node, self.lease) = (node, lease) }
}

extension ClusterAnswer {
    /// Reads what a call's command answered; nil for what no script of ours answers.
    init?(_ value: RedisValue, to call: ClusterCall) {
        switch call {
        case .claim(_, let arguments): self.init(claim: value, key: arguments.key)
        case .renew: self.init(renewals: value)
        case .end(let stage, _, _): self.init(ends: value, stage: stage)
        case .sweep(let stage, _, _): self.init(sweep: value, stage: stage)
        case .idle(let stage, _): self.init(idleness: value, stage: stage)
        case .look, .begin: self.init(view: value)
        case .stages(ofNode: _), .heartbeat:
            guard let names = value.words else { return nil }
            self = .names(names)
        case .heard: self = .heard(value.integer.map { .milliseconds(max(0, min($0, Self.longestSilence))) })
        case .nodes:
            guard let words = value.words, words.count % 2 == 0 else { return nil }
            let pairs = stride(from: 0, to: words.count, by: 2).map { (words[$0], words[$0 + 1]) }
            self = .nodes(Dictionary(pairs) { _, last in last })
        case .bury: self = .buried(value.integer == 1)
        case .release, .announce, .mark, .unmark, .forgetStages: self = .done
        }
    }

    private init?(claim value: RedisValue, key: LeaseKey) {
        guard let words = value.words else { return nil }
        switch (words.first, words.count) {
        case ("granted", 7):
            guard let generation = LeaseIdentity.generation(words[1]), let session = SharedSession(words[2...3]),
                let old = LeaseIdentity.generation(words[5])
            else { return nil }
            let displaced =
                words[4].isEmpty
                ? nil
                : Displaced(node: words[4], lease: EndedLease(LeaseIdentity(key, generation: old), sessionID: words[6]))
            self = .claimed(.granted(GrantedLease(generation: generation, session: session, displaced: displaced)))
        case ("held", 4):
            guard let generation = LeaseIdentity.generation(words[2]), let remaining = Int64(words[3]) else { return nil }
            let remote = RemoteLease(node: words[1], LeaseIdentity(key, generation: generation))
            self = .claimed(.held(by: remote, remaining: .milliseconds(remaining)))
        case ("full", 1): self = .claimed(.full)
        case ("wait", 1): self = .claimed(.wait)
        default: return nil
        }
    }

    private init?(renewals value: RedisValue) {
        guard let elements = value.elements else { return nil }
        let renewals = elements.compactMap { Renewal($0.words ?? []) }
        guard renewals.count == elements.count else { return nil }
        self = .renewed(renewals)
    }

    private init?(ends value: RedisValue, stage: String) {
        guard let elements = value.elements else { return nil }
        self = .ended(
            elements.compactMap { element in
                guard let words = element.words, words.count == 3, let generation = LeaseIdentity.generation(words[2]) else {
                    return nil
                }
                let key = LeaseKey(stageID: stage, participantID: words[0])
                return RemoteLease(node: words[1], LeaseIdentity(key, generation: generation))
            })
    }

    private init?(sweep value: RedisValue, stage: String) {
        guard let elements = value.elements, let left = elements.first?.integer else { return nil }
        self = .swept(left: Int(left), EndedLease.list(elements.dropFirst(), stage: stage))
    }

    private init?(idleness value: RedisValue, stage: String) {
        guard let elements = value.elements, let kind = elements.first?.text else { return nil }
        switch (kind, elements.dropFirst().first) {
        case ("live", _): self = .idle(.live)
        case ("none", _): self = .idle(.none)
        case ("wait", let time?):
            guard let time = time.integer else { return nil }
            self = .idle(.wait(.milliseconds(max(0, min(time, Self.longestWait)))))
        case ("ended", let session?):
            self = .idle(.ended(sessionID: session.text ?? "", EndedLease.list(elements.dropFirst(2), stage: stage)))
        default: return nil
        }
    }

    private init?(view value: RedisValue) {
        guard let words = value.words, words.count >= 3 else { return nil }
        let session = words[0].isEmpty ? nil : SharedSession(words[0...1])
        self = .looked(StageView(session: session, isRecorded: words[2] == "1", participants: Set(words.dropFirst(3))))
    }

    /// Milliseconds, a day. A longer silence counts as a day, and one below zero as none.
    private static let longestSilence: Int64 = 86_400_000
    /// Milliseconds; a session that idles for longer is asked for again.
    private static let longestWait: Int64 = 3_600_000
}

extension ClusterAnswer.Renewal {
    fileprivate init?(_ words: [String]) {
        switch (words.first, words.count) {
        case ("ok", 1): self = .ok
        case ("lost", 3):
            guard let generation = LeaseIdentity.generation(words[2]) else { return nil }
            self = .lost(generation: generation)
        case ("end", 3):
            guard let code = Int(words[1]) else { return nil }
            self = .end(LeaseEnding(code: code, words: words[2]))
        case ("revived", 2):
            guard let generation = LeaseIdentity.generation(words[1]) else { return nil }
            self = .revived(generation: generation)
        default: return nil
        }
    }
}

extension EndedLease {
    fileprivate static func list(_ elements: ArraySlice<RedisValue>, stage: String) -> [EndedLease] {
        elements.compactMap { element in
            guard let words = element.words, words.count == 3, let generation = LeaseIdentity.generation(words[1]) else {
                return nil
            }
            return EndedLease(
                LeaseIdentity(LeaseKey(stageID: stage, participantID: words[0]), generation: generation), sessionID: words[2])
        }
    }
}

extension SharedSession {
    fileprivate init?(_ words: some Collection<String>) {
        guard words.count == 2, let id = words.first, let start = words.dropFirst().first.flatMap({ Int64($0) }) else {
            return nil
        }
        self.init(id: id, start: start)
    }
}

extension RedisValue {
    /// An array of strings, numbers among them as text; nil for anything else.
    fileprivate var words: [String]? {
        guard let elements else { return nil }
        let words = elements.compactMap { $0.text ?? $0.integer.map { "\($0)" } }
        return words.count == elements.count ? words : nil
    }
}
