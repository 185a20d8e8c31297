public import Sockets

/// Why a connection to a server ended.
public enum RedisConnectionEnd: Error, Equatable, Sendable {
    case closed(StreamClosure)
    /// A command had no answer in `RedisLimits.answerTimeout`.
    case silent
    case malformed(RedisProtocolError)
}
