/// How long a server may take, and how much it may say.
public struct RedisLimits: Equatable, Sendable {
    /// From the first SYN until the server has greeted us: TCP, TLS, AUTH, INFO.
    public var connectTimeout = Duration.seconds(2)
    /// From sending a command until its answer: beyond it the connection counts as dead, and all that wait on it are told.
    public var answerTimeout = Duration.seconds(3)
    /// Every connection asks its server that often whether it lives, and whether it is a primary still.
    public var heartbeat = Duration.seconds(1)
    /// The pause after the first failure to connect; it doubles up to the longest.
    public var shortestPause = Duration.milliseconds(50)
    public var longestPause = Duration.seconds(2)
    /// Commands that may wait for their answers on one connection.
    public var maximumPipelinedCommands = 4_096
    /// One answer: its bytes, and its strings, numbers and arrays. hiredis bounds the depth, at seven arrays.
    public var maximumReplyBytes = 16 << 20
    public var maximumReplyElements = 262_144
    /// What waits for the server to take it.
    public var maximumUnsentBytes = 16 << 20

    public init() {}
}
