import JSON
import Redis

/// One entry of the stream of commits: who is about to change, or has changed, which records.
struct ChangeEntry: Equatable, Sendable {
    enum Phase: String, Sendable {
        /// What follows may or may not happen: whoever writes it may die.
        case before = "b"
        case after = "a"
        /// Nothing changes; the entry marks a place in the stream.
        case mark = "m"
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
    /// Nil for what no node of ours writes.
    init?(_ value: RedisValue) {
        guard let parts = value.elements, parts.count == 2, let id = parts[0].text, let fields = parts[1].elements else {
            return nil
        }
        var named: [String: String] = [:]
        for index in stride(from: 0, to: fields.count - 1, by: 2) { named[fields[index].text ?? ""] = fields[index + 1].text }
        guard let node = named["n"], let commit = named["c"].flatMap(UInt64.init), let phase = named["p"].flatMap(Phase.init),
            let keys = named["k"].flatMap({ try? JSONValue(parsing: $0) })?.array
        else { return nil }
        (self.id, self.node, self.commit, self.phase) = (id, node, commit, phase)
        self.keys = keys.compactMap(\.string)
    }
}
