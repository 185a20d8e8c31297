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

    /// Whether the command may have been carried out all the same: only a read tells.
    public var isOutcomeUnknown: Bool { self == .lost || self == .unexpected }
}

/// A command's answer or why there is none.
public typealias RedisReply = Result<RedisValue, RedisError>
