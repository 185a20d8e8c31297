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

    /// An array's elements.
    public var elements: [RedisValue]? {
        if case .array(let elements) = self { return elements }
        return nil
    }

    /// Whether there is nothing.
    public var isNull: Bool { self == .null }
}

/// Why a command has no answer that its caller can use.
public enum RedisError: Error, Equatable, Sendable {
    /// Not sent: there is no connection to the server that has to carry it out.
    case away
    /// Not sent: `RedisLimits.maximumPipelinedCommands` wait for answers already.
    case pipelineFull
    /// Sent, and the connection ended before the answer: the command may have been carried out.
    case lost
    /// The server says no; nothing was changed.
    case refused(RedisRefusal)
    /// In a cluster: sent from node to node without finding one that takes it.
    case tooManyRedirections
    /// An answer of another shape than the command's.
    case unexpected
}

/// A command's answer or why there is none.
public typealias RedisReply = Result<RedisValue, RedisError>

/// An error that the server answered: its first word, which programs decide by, and the line for people.
public struct RedisRefusal: Error, Equatable, Sendable, CustomStringConvertible {
    /// `ERR`, `NOSCRIPT`, `READONLY`, `MOVED`, …
    public let code: String
    /// The whole line, the code included.
    public let message: String

    /// The line as the server sent it, without the leading minus.
    public init(_ message: String) {
        self.message = message
        code = message.prefix { $0 != " " }.description
    }

    /// The whole line.
    public var description: String { message }

    /// Whether the server says that it is not, or not yet, the primary that we took it for.
    var isOfAnotherPrimary: Bool { ["READONLY", "LOADING", "MASTERDOWN"].contains(code) }
}
