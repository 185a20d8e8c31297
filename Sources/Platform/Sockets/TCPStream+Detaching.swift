public import EventLoop
import Wire

/// A plain connection on its way from one loop to another, with what was read of it and not consumed.
public struct DetachedConnection: Sendable {
    public let connection: AcceptedConnection
    let unread: [UInt8]
}

extension TCPStream {
    /// Gives up the connection so that another loop may go on with it; the stream is closed then. Not from inside `onBytes`.
    /// - Returns: nil when that cannot be: TLS, bytes that wait to be sent, or an end under way.
    public func detach() -> DetachedConnection? {
        guard phase == .open, tls == nil, pending.isEmpty, !hasPeerFinished, let descriptor else { return nil }
        let connection = AcceptedConnection(
            descriptor: descriptor, remoteAddress: remoteAddress, localAddress: localAddress)
        defer { close() }
        return DetachedConnection(connection: connection, unread: unconsumed)
    }

    /// Goes on with a connection of another loop; what was unread is delivered in the next turn.
    public convenience init(loop: EventLoop, resuming detached: DetachedConnection) {
        self.init(loop: loop, accepted: detached.connection)
        unconsumed = detached.unread
        pauseReading()
        resumeReading()
    }
}
