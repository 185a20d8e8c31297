import JSON
import Wire

/// What one node says to another. All of it is in a record too: a lost message costs one renewal at most (docs/design.md 7.4).
enum NodeMessage: Hashable, Sendable {
    /// Do you hold this lease, and does it make progress?
    case ask(Question)
    case answer(question: Int, Holding)
    /// The lease has to end; its record says so.
    case end(LeaseIdentity, LeaseEnding)
    /// The lease of a lower generation than this one is lost.
    case takenOver(LeaseIdentity)

    struct Question: Hashable, Sendable {
        /// The asker's own, by which the answer finds it.
        var number: Int
        /// Whom to answer.
        var node: String
        var lease: LeaseIdentity
    }

    /// What the node that was asked knows of the lease.
    enum Holding: Hashable, Sendable {
        /// - Parameter age: how long ago it last made progress.
        case live(age: Duration)
        case gone
    }
}

extension NodeMessage {
    /// As it travels: one JSON object.
    func serialized() -> [UInt8] { json.serialized() }

    private var json: JSONValue {
        switch self {
        case .ask(let question):
            .object(
                JSONObject([("kind", "ask"), ("number", .integer(Int64(question.number))), ("node", .string(question.node))])
                    .adding(question.lease))
        case .answer(let number, .live(let age)):
            [
                "kind": "live", "number": .integer(Int64(number)),
                "age": .integer(min(age.milliseconds, Self.possibleAges.upperBound)),
            ]
        case .answer(let number, .gone): ["kind": "gone", "number": .integer(Int64(number))]
        case .end(let lease, let ending):
            .object(
                JSONObject([("kind", "end"), ("code", .integer(Int64(ending.code))), ("words", .string(ending.words))])
                    .adding(lease))
        case .takenOver(let lease): .object(JSONObject([("kind", "takenOver")]).adding(lease))
        }
    }

    /// Nil for what no node of this version says.
    init?(parsing text: [UInt8]) {
        guard let json = try? JSONValue(parsing: text, limits: Self.limits), let kind = json["kind"]?.string else { return nil }
        let number = json["number"]?.integer.flatMap { Int(exactly: $0) }
        switch (kind, number, LeaseIdentity(json)) {
        case ("ask", let number?, let lease?):
            guard let node = json["node"]?.string else { return nil }
            self = .ask(Question(number: number, node: node, lease: lease))
        case ("live", let number?, _):
            guard let age = json["age"]?.integer, Self.possibleAges.contains(age) else { return nil }
            self = .answer(question: number, .live(age: .milliseconds(age)))
        case ("gone", let number?, _): self = .answer(question: number, .gone)
        case ("end", _, let lease?):
            guard let code = json["code"]?.integer.flatMap({ Int(exactly: $0) }), let words = json["words"]?.string else {
                return nil
            }
            self = .end(lease, LeaseEnding(code: code, words: words))
        case ("takenOver", _, let lease?): self = .takenOver(lease)
        default: return nil
        }
    }

    /// Messages are short: a longer one is not a node's.
    static let limits = JSONLimits(maximumLength: 8 * 1024, maximumDepth: 4, maximumValues: 64)
    /// Milliseconds, a day. A longer silence counts as a day.
    static let possibleAges: ClosedRange<Int64> = 0...86_400_000
}

extension JSONObject {
    fileprivate func adding(_ lease: LeaseIdentity) -> JSONObject {
        var object = self
        object["stage"] = .string(lease.key.stageID)
        object["participant"] = .string(lease.key.participantID)
        object["generation"] = .integer(Int64(clamping: lease.generation))
        return object
    }
}

extension LeaseIdentity {
    fileprivate init?(_ json: JSONValue) {
        guard let stage = json["stage"]?.string, let participant = json["participant"]?.string,
            let generation = json["generation"]?.integer.flatMap({ UInt64(exactly: $0) }), generation <= Self.greatestGeneration
        else { return nil }
        self.init(LeaseKey(stageID: stage, participantID: participant), generation: generation)
    }
}
