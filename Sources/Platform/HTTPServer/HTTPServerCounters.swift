/// What a server has done and refused, for its metrics.
public struct HTTPServerCounters: Equatable, Sendable {
    public var accepted = 0
    /// Turned away because the server, or their address, had its share.
    public var refused = 0
    /// Closed without a whole request, for a newcomer, when there was no place left.
    public var displaced = 0
    public var requests = 0
    /// Requests refused before a handler saw them: malformed, too large.
    public var malformed = 0
    /// Requests or connections cut by a deadline.
    public var timedOut = 0
}
