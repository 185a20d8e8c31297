import JSON
import Redis
import Wire

/// Knows how far a node has read in the stream of commits, and which records it has to read again because of that. Pure.
struct ChangeFollower: Sendable {
    /// A commit that was announced and not confirmed for so long may have been left half done.
    static let doubt = Duration.seconds(2)

    private struct Commit: Hashable {
        var node: String
        var number: UInt64
    }

    private struct Doubt {
        var keys: [String]
        var due: MonotonicTime
    }

    let node: String
    /// The last entry that was read.
    private(set) var position: String
    private var doubts: [Commit: Doubt] = [:]
    /// Keys that have to be read to know their content: our own write had no answer, or the database may have dropped them.
    private var uncertain: Set<String> = []

    /// - Parameter node: whose commits are known here already.
    init(node: String, position: String) { (self.node, self.position) = (node, position) }

    /// - Returns: the keys to read at once.
    mutating func read(_ entries: [ChangeEntry], at now: MonotonicTime) -> Set<String> {
        var keys: Set<String> = []
        for entry in entries {
            position = entry.id
            guard entry.node != node else { continue }
            let commit = Commit(node: entry.node, number: entry.commit)
            switch entry.phase {
            case .before: doubts[commit] = Doubt(keys: entry.keys, due: now + Self.doubt)
            case .after:
                doubts[commit] = nil
                keys.formUnion(entry.keys)
            case .mark, .repaired: break
            }
        }
        return keys
    }

    /// What is known of these may be wrong: they are read as soon as the database can be asked.
    mutating func markUncertain(_ keys: Set<String>) { uncertain.formUnion(keys) }

    /// - Returns: the keys to read now, each once. Until they have been read they go back with `markUncertain`.
    mutating func takeDue(at now: MonotonicTime) -> Set<String> {
        var keys = uncertain
        uncertain = []
        for (commit, doubt) in doubts where doubt.due <= now {
            keys.formUnion(doubt.keys)
            doubts[commit] = nil
        }
        return keys
    }

    /// When `takeDue` has something next; nil when there is nothing to wait for.
    var deadline: MonotonicTime? { doubts.values.map(\.due).min() }
}

/// One entry of the stream of commits: who is about to change, or has changed, which records.
struct ChangeEntry: Equatable, Sendable {
    enum Phase: String, Sendable {
        /// What follows may or may not happen: whoever writes it may die.
        case before = "b"
        case after = "a"
        /// Nothing changes; the entry marks a place in the stream.
        case mark = "m"
        /// The lists of records were repaired: everything is to be read. Who does not know this phase does so too.
        case repaired = "r"
    }

    /// The stream's number of it; empty until it is written.
    var id = ""
    /// The process that commits.
    var node: String
    /// Of that process.
    var commit: UInt64
    var phase: Phase
    var keys: [String]

    var fields: [RedisArgument] {
        [
            "n", RedisArgument(node), "c", RedisArgument(commit), "p", RedisArgument(phase.rawValue), "k",
            RedisArgument(JSONValue.array(keys.map { .string($0) }).description),
        ]
    }
}

extension ChangeEntry {
    /// As many keys as a transaction may have: the text is as long as an answer of the servers at most.
    private static let keyLimits = JSONLimits(maximumLength: .max, maximumValues: .max)

    /// Nil for what no node of ours writes.
    init?(_ value: RedisValue) {
        guard let parts = value.elements, parts.count == 2, let id = parts[0].text, let fields = parts[1].elements else {
            return nil
        }
        var named: [String: String] = [:]
        for index in stride(from: 0, to: fields.count - 1, by: 2) { named[fields[index].text ?? ""] = fields[index + 1].text }
        guard let node = named["n"], let commit = named["c"].flatMap(UInt64.init), let phase = named["p"].flatMap(Phase.init),
            let keys = named["k"].flatMap({ try? JSONValue(parsing: $0, limits: Self.keyLimits) })?.array
        else { return nil }
        (self.id, self.node, self.commit, self.phase) = (id, node, commit, phase)
        self.keys = keys.compactMap(\.string)
    }
}
