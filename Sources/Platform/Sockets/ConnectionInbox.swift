public import EventLoop

/// Where one worker's connections come in on a port that others serve too: its own listener's, as far as they are its share, and
/// those that the others hand to it. Confined.
public final class ConnectionInbox {
    private let shares: ConnectionShares
    private let worker: Int
    private let onConnection: (AcceptedConnection) -> Void
    private var mailbox: Mailbox<AcceptedConnection>?

    /// - Parameters:
    ///   - worker: its index among those of `shares`.
    ///   - onConnection: given every connection that stays with this worker.
    /// - Throws: when the kernel gives no more descriptors.
    public init(
        loop: EventLoop, worker: Int, of shares: ConnectionShares, onConnection: @escaping (AcceptedConnection) -> Void
    ) throws(SystemError) {
        (self.shares, self.worker, self.onConnection) = (shares, worker, onConnection)
        let mailbox = try Mailbox<AcceptedConnection>(loop: loop) { onConnection($0) }
        self.mailbox = mailbox
        shares.open(worker: worker, mailbox.sender)
    }

    deinit { close() }

    /// Takes what this worker's listener accepted.
    public func accept(_ connection: AcceptedConnection) {
        if let own = shares.place(connection, acceptedBy: worker) { onConnection(own) }
    }

    /// Takes no more from others; what is on its way is closed.
    public func close() {
        shares.close(worker: worker)
        mailbox = nil
    }
}
