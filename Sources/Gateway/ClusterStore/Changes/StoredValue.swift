import Redis
import Store

/// A record as it was read, or that there is none.
struct StoredValue {
    var key: String
    var version: RedisValue
    var body: RedisValue

    /// Puts it into the replica, or takes it out; returns false when it is there and cannot be understood.
    @discardableResult
    func apply(to replica: inout Replica, codec: RecordCodec) -> Bool {
        guard let version = version.integer, version > 0, let text = body.text else {
            replica.remove(key: key)
            return true
        }
        guard UInt64(version) != replica.version(ofKey: key) else { return true }
        guard let record = try? codec.decode(text, key: key) else { return false }
        replica.put(record, key: key, version: UInt64(version))
        return true
    }
}
