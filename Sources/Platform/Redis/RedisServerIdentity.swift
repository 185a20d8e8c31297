public import Wire

/// A primary that greeted us.
public struct RedisServerIdentity: Equatable, Sendable {
    public let address: SocketAddress
    /// Changes at every start of the server's process.
    public let runID: String
    /// Of the history of its data: a replica that is promoted begins a new one.
    public let replicationID: String
    public let version: String
}
