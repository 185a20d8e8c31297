import Admission
import Sockets
import StageHub
import Wire

/// What one thread tells the worker that owns a session.
enum WorkerMessage: Sendable {
    /// Datagrams wait in the ring from that worker.
    case datagrams(from: Int)
    /// A check for a session of yours was answered by another worker: that tuple is validated.
    case validated(SessionEntry, MediaPath)
    case end(SessionEntry, PublicationEnd)
    case claimed(SessionEntry, ClaimAnswer)
    /// An ICE-TCP connection whose session is yours, with the frames read and not yet handled.
    case connection(SessionEntry, DetachedConnection)
}

/// The way to a peer: its address, and ours that it knows.
struct MediaPath: Hashable, Sendable {
    var remote: SocketAddress
    var local: IPAddress?
    /// Over ICE-TCP.
    var isStream = false

    var key: TupleKey { TupleKey(remote: remote, isStream: isStream) }
}

/// By what a worker finds a tuple: the peer's address and the transport.
struct TupleKey: Hashable, Sendable {
    var remote: SocketAddress
    var isStream: Bool
}
