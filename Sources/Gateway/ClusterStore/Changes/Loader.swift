import Redis
import Store

/// Reads configuration from the database: all of it, or the records that changed.
struct Loader {
    /// What was found, and from where in the stream of commits to go on.
    struct Loaded {
        var copy = LocalCopy()
        var position: String
        /// Records that cannot be understood; they count as absent.
        var unreadable: [String] = []
    }

    let server: any DatabaseServer
    let schema: KeySchema
    let codec: RecordCodec
    let node: String

    /// Everything that the lists know. What is changed meanwhile stands behind `position`, which is marked first.
    func loadAll() throws(StoreError) -> Loaded {
        var loaded = Loaded(position: try announce(.mark))
        var questions: [Question] = []
        for index in KeySchema.Index.allCases {
            for listing in try listings(of: index) {
                let key = schema.record(listing)
                questions.append(
                    index == .stages
                        ? .script(StoreScript.stage, keys: [key, schema.members(ofStage: listing.member)], arguments: [])
                        : read(key))
            }
        }
        for (question, answer) in zip(questions, try server.ask(questions)) {
            for value in values(answer, key: question.key) where !value.apply(to: &loaded.copy, codec: codec) {
                loaded.unreadable.append(value.key)
            }
        }
        return loaded
    }

    /// Reads these records again.
    /// - Returns: those that cannot be understood.
    func reload(_ keys: Set<String>, into copy: inout LocalCopy) throws(StoreError) -> [String] {
        let keys = keys.sorted()
        var unreadable: [String] = []
        for (key, answer) in zip(keys, try server.ask(keys.map(read))) {
            for value in values(answer, key: key) where !value.apply(to: &copy, codec: codec) {
                unreadable.append(key)
            }
        }
        return unreadable
    }

    /// Entries after one that was read; nil when the stream does not reach back that far, or has one that nobody understands or
    /// that says that everything is to be read.
    /// - Parameter newest: the newest entry known, read or our own. If it is gone, so is what it told of.
    func changes(after position: String, newest: String) throws(StoreError) -> [ChangeEntry]? {
        let arguments = [RedisArgument(position), RedisArgument(Self.page), RedisArgument(newest)]
        let answer = try server.run(StoreScript.follow, [schema.changes], arguments)
        guard let elements = answer.elements else { return nil }
        let entries = elements.compactMap(ChangeEntry.init)
        guard entries.count == elements.count, !entries.contains(where: { $0.phase == .repaired }) else { return nil }
        return entries
    }

    /// Entries of the stream read at once.
    static let page = 1_000

    func listings(of index: KeySchema.Index) throws(StoreError) -> [KeySchema.Listing] {
        let key = schema.index(index)
        let members = try server.ask(RedisCommand("SMEMBERS", RedisArgument(key)), key: key).elements ?? []
        return members.compactMap(\.text).map { KeySchema.Listing(index: index, member: $0) }
    }

    /// Writes an entry that names no records, and wakes the other nodes.
    /// - Returns: the stream's number of it.
    func announce(_ phase: ChangeEntry.Phase) throws(StoreError) -> String {
        let entry = ChangeEntry(node: node, commit: 0, phase: phase, keys: [])
        guard let id = try server.announce(entry, schema: schema) else {
            throw .failed(reason: "the announce script answered something else")
        }
        return id
    }

    private func read(_ key: String) -> Question {
        .command(RedisCommand("HMGET", RedisArgument(key), "v", "d"), key: key)
    }

    /// From version and JSON, or from triples of key, version and JSON.
    private func values(_ answer: RedisValue, key: String) -> [StoredValue] {
        let fields = answer.elements ?? []
        if fields.count == 2 { return [StoredValue(key: key, version: fields[0], body: fields[1])] }
        return stride(from: 0, to: fields.count - 2, by: 3).map { start in
            StoredValue(key: fields[start].text ?? key, version: fields[start + 1], body: fields[start + 2])
        }
    }
}
