import Redis
import Store

/// The configuration of the cluster as this node has it, with the versions it is made of.
struct LocalCopy: Sendable {
    private struct Entry: Sendable {
        var id: Record.ID
        var version: UInt64
    }

    private(set) var state = StoreState()
    /// Rises with every change of `state`.
    private(set) var revision: UInt64 = 0
    private var entries: [String: Entry] = [:]

    var recordCount: Int { entries.count }

    /// 0 for what is not there.
    func version(ofKey key: String) -> UInt64 { entries[key]?.version ?? 0 }

    mutating func put(_ record: Record, key: String, version: UInt64) {
        // A record that has taken the name of another one is put in its place.
        if let old = entries[key], old.id != record.id { state.remove(old.id) }
        state.put(record)
        revision += 1
        entries[key] = Entry(id: record.id, version: version)
    }

    mutating func remove(key: String) {
        guard let entry = entries.removeValue(forKey: key) else { return }
        state.remove(entry.id)
        revision += 1
    }
}

/// A record as it was read, or that there is none.
struct StoredValue {
    var key: String
    var version: RedisValue
    var body: RedisValue

    /// Puts it into the copy, or takes it out; returns false when it is there and cannot be understood.
    @discardableResult
    func apply(to copy: inout LocalCopy, codec: RecordCodec) -> Bool {
        guard let version = version.integer, version > 0, let text = body.text else {
            copy.remove(key: key)
            return true
        }
        guard UInt64(version) != copy.version(ofKey: key) else { return true }
        guard let record = try? codec.decode(text, key: key) else { return false }
        copy.put(record, key: key, version: UInt64(version))
        return true
    }
}
