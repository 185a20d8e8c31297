import EventLoop
import Refusals
import Sockets

/// The way into one worker: its mailbox, and a ring from each other worker, made at first use.
final class WorkerInbox: Sendable {
    let sender = Lock<MailboxSender<TransportMessage>?>(nil)
    private let rings: [Lock<DatagramRing?>]

    init(workerCount: Int) { rings = (0..<workerCount).map { _ in Lock(nil) } }

    func ring(from: Int) -> DatagramRing {
        rings[from].withLock { ring in
            if let ring { return ring }
            let made = DatagramRing()
            ring = made
            return made
        }
    }
}

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
