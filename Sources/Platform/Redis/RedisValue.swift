/// What a server answers, in RESP2's types (redis.io/docs/reference/protocol-spec).
public enum RedisValue: Equatable, Sendable {
    /// A short line such as `OK`.
    case status(String)
    case string([UInt8])
    case integer(Int64)
    case array([RedisValue])
    /// No such key, no such element, or a transaction whose watched key changed.
    case null
    /// An error inside an array, as EXEC gives for the command that failed. On its own it is a `RedisError.refused`.
    case error(RedisRefusal)

    /// A string's or status's bytes.
    public var bytes: [UInt8]? {
        switch self {
        case .status(let line): Array(line.utf8)
        case .string(let bytes): bytes
        default: nil
        }
    }

    /// A string or status as UTF-8; what is malformed is replaced.
    public var text: String? { bytes.map { String(decoding: $0, as: UTF8.self) } }

    /// An integer, also one that came as a string, as hashes and scripts give them.
    public var integer: Int64? {
        if case .integer(let value) = self { return value }
        return text.flatMap { Int64($0) }
    }

    public var elements: [RedisValue]? {
        if case .array(let elements) = self { return elements }
        return nil
    }

    public var isNull: Bool { self == .null }
}
