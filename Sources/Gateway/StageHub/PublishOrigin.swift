public import Wire

/// Where a publish comes from, and its way until it was granted: what operators ask first.
public struct PublishOrigin: Sendable, Equatable {
    /// Tells this session from all others, in logs and in the API.
    public var sessionID: String
    public var source: SocketAddress
    /// flashVer or User-Agent as sent, at most 256 bytes.
    public var userAgent: String
    /// What happened before the publish was granted, oldest first.
    public var steps: [PublishStep]

    public init(sessionID: String, source: SocketAddress, userAgent: String = "", steps: [PublishStep] = []) {
        (self.sessionID, self.source, self.userAgent, self.steps) = (sessionID, source, userAgent, steps)
    }
}

/// One step of a session's story: `connected`, `handshakeDone`, `granted`, `firstKeyframe`, …
public struct PublishStep: Sendable, Equatable {
    public var name: String
    public var time: WallTime

    public init(_ name: String, at time: WallTime) { (self.name, self.time) = (name, time) }
}
