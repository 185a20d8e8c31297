import Refusals
import Sockets

/// What one thread tells the worker that owns a session.
enum TransportMessage: Sendable {
    /// Datagrams wait in the ring from that worker.
    case datagrams(from: Int)
    /// A check for a session of yours was answered by another worker: that tuple is validated.
    case validated(any TransportEntry, MediaPath)
    /// A packet of a session of mine came genuine over a tuple of yours without a check.
    case rebound(any TransportEntry, MediaPath)
    case end(any TransportEntry, SessionEnd)
    /// To be run with the session, or with nil when it has ended; never for media.
    case perform(any TransportEntry, @Sendable ((any TransportSession)?) -> Void)
    /// An ICE-TCP connection whose session is yours, with the frames read and not yet handled.
    case connection(any TransportEntry, DetachedConnection)
    /// A session of that path ended by silence: what its peer is answered with when it comes back.
    case farewell([[UInt8]], MediaPath)
}
