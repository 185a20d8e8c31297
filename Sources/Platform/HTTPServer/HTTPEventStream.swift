import EventLoop
public import HTTP
import Sockets

/// A running stream of server-sent events. Dropping it ends it.
public final class HTTPEventStream {
    /// Often enough that no proxy takes the stream for dead.
    static let keepAliveInterval = Duration.seconds(15)
    /// A client that lets more than this pile up is cut off; it may come back and ask for what it missed.
    static let maximumUnsentBytes = 1 << 20

    /// The client has gone.
    public var onClosed: () -> Void = {}

    private var connection: HTTPConnection?

    init(connection: HTTPConnection) { self.connection = connection }

    deinit { close() }

    public var isOpen: Bool { connection != nil }

    public func send(_ event: ServerSentEvent) { send(event.serialized()) }

    /// The server is gone: nothing can be sent any more.
    func abandon() { connection = nil }

    /// Ends the stream in order.
    public func close() {
        guard let connection = connection.take() else { return }
        connection.stream.write(ChunkedBody.end)
        connection.finish()
    }

    func keepAlive() { send(ServerSentEvent.keepAlive) }

    private func send(_ bytes: [UInt8]) {
        guard let connection else { return }
        if connection.stream.pendingWriteBytes > Self.maximumUnsentBytes { return connection.close() }
        connection.stream.write(ChunkedBody.chunk(bytes))
    }

    func cancel() {
        guard connection.take() != nil else { return }
        onClosed()
    }
}
