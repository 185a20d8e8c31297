public import Wire

/// The way to a peer: its address, and ours that it knows.
public struct MediaPath: Hashable, Sendable {
    public var remote: SocketAddress
    /// To which its datagrams come, and from which ours go; nil where that is not known.
    public var local: IPAddress?
    /// Over ICE-TCP.
    public var isStream = false

    var key: TupleKey { TupleKey(remote: remote, isStream: isStream) }
}

/// By what a worker finds a tuple: the peer's address and the transport.
struct TupleKey: Hashable, Sendable {
    var remote: SocketAddress
    var isStream: Bool
}
