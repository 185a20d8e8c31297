import Redis
import Store
import Wire

/// Writes transactions to the database: announces, changes slot by slot, confirms.
struct Committer {
    /// How far a process has come in writing, whichever connection it uses.
    struct Progress: Sendable {
        fileprivate(set) var lastCommit: UInt64 = 0
        /// The newest of our entries in the stream of commits.
        fileprivate(set) var lastEntry: String?
    }

    enum Outcome: Equatable {
        case committed
        /// Records were others than the transaction was based on; the copy has them now.
        case conflict
    }

    /// Entries of the stream of commits, about: a node that has read none for longer reads everything anew.
    static let maximumChanges = 100_000

    let server: any DatabaseServer
    let schema: KeySchema
    let codec: RecordCodec
    /// The process that commits.
    let node: String
    private(set) var progress = Progress()
    /// Slots written that no replica had within a second.
    private(set) var replicaMisses = 0

    init(server: any DatabaseServer, schema: KeySchema, codec: RecordCodec, node: String, progress: Progress = Progress()) {
        (self.server, self.schema, self.codec, self.node, self.progress) = (server, schema, codec, node, progress)
    }

    /// - Parameter copy: takes up what was committed, slot by slot, and after a conflict what was found.
    /// - Throws: when the database stopped answering. What was kept is then not known: `keys` of the plan are to be read again.
    mutating func commit(_ plan: CommitPlan, to copy: inout LocalCopy) throws(StoreError) -> Outcome {
        guard !plan.isEmpty else { return .committed }
        progress.lastCommit += 1
        try server.list(plan.listed, "SADD", schema: schema)
        try announce(.before, plan.keys)
        var outcome = Outcome.committed
        for slot in plan.slots where outcome == .committed { outcome = try commit(slot, to: &copy) }
        if outcome == .committed { try server.list(plan.unlisted, "SREM", schema: schema) }
        try announce(.after, plan.keys)
        for slot in plan.slots where outcome == .committed {
            if let key = slot.items.first?.key, try !server.settle(key) { replicaMisses += 1 }
        }
        return outcome
    }

    private func commit(_ slot: CommitPlan.Slot, to copy: inout LocalCopy) throws(StoreError) -> Outcome {
        var arguments: [RedisArgument] = []
        for item in slot.items {
            let body = item.record.map { codec.encode($0, key: item.key) } ?? ""
            arguments += [
                RedisArgument(item.expected), RedisArgument(body), RedisArgument(item.record?.expiry ?? ""),
                item.id.isMemberOfStage ? "1" : "0",
            ]
        }
        let keys = slot.items.map(\.key) + [schema.members(ofStage: slot.tag)]
        guard let answer = try server.run(StoreScript.commit, keys, arguments).elements, let isDone = answer.first?.integer else {
            throw .failed(reason: "the commit script answered something else")
        }
        if isDone == 1 {
            take(slot.items, versions: answer.dropFirst(), into: &copy)
        } else {
            take(newer: answer.dropFirst(), of: slot.items, into: &copy)
        }
        return isDone == 1 ? .committed : .conflict
    }

    private func take(_ items: [CommitPlan.Item], versions: ArraySlice<RedisValue>, into copy: inout LocalCopy) {
        for (item, version) in zip(items, versions) {
            if let record = item.record {
                copy.put(record, key: item.key, version: UInt64(clamping: version.integer ?? 0))
            } else {
                copy.remove(key: item.key)
            }
        }
    }

    private func take(newer found: ArraySlice<RedisValue>, of items: [CommitPlan.Item], into copy: inout LocalCopy) {
        let found = Array(found)
        for start in stride(from: 0, to: found.count - 2, by: 3) {
            guard let number = found[start].integer, number > 0, number <= items.count else { continue }
            let stored = StoredValue(key: items[Int(number) - 1].key, version: found[start + 1], body: found[start + 2])
            stored.apply(to: &copy, codec: codec)
        }
    }

    private mutating func announce(_ phase: ChangeEntry.Phase, _ keys: [String]) throws(StoreError) {
        let entry = ChangeEntry(node: node, commit: progress.lastCommit, phase: phase, keys: keys)
        progress.lastEntry = try server.announce(entry, schema: schema)
    }
}

extension Record {
    /// When the database drops it by itself, in ms since 1970.
    fileprivate var expiry: String? {
        guard case .revocation(let entry) = self else { return nil }
        return String(max(1, entry.expiresAt.millisecondsSince1970))
    }
}
