public import HTTP
import Sockets

/// A running stream of server-sent events. Dropping it ends it.
public final class HTTPEventStream {
    /// Often enough that no proxy takes the stream for dead.
    static let keepAliveInterval = Duration.seconds(15)
    /// A client that lets more than this pile up is cut off; it may come back and ask for what it missed.
    static let maximumUnsentBytes = 1 << 20

    /// The client has gone, or the server ends its streams.
    public var onClosed: () -> Void = {}
    /// `takesMore` again: all that was sent has been given to the kernel.
    public var onDrained: () -> Void = {}

    private var connection: HTTPConnection?
    private let isChunked: Bool

    init(connection: HTTPConnection, isChunked: Bool) { (self.connection, self.isChunked) = (connection, isChunked) }

    deinit { close() }

    /// What comes before its events.
    static func head(_ headers: HTTPHeaders) -> HTTPResponse {
        var response = HTTPResponse(.ok, headers: headers)
        response.headers["Content-Type"] = "text/event-stream"
        response.headers["Cache-Control"] = "no-store"
        return response
    }

    /// Whether the client is still there.
    public var isOpen: Bool { connection != nil }

    /// Whether nothing that was sent waits here for the client. Who has more to send than it may let pile up goes by this, and
    /// goes on at `onDrained`.
    public var takesMore: Bool { connection?.stream.pendingWriteBytes == 0 }

    /// Sends one event. A client that lets more than 1 MiB pile up is cut off; when it has gone nothing happens.
    public func send(_ event: ServerSentEvent) { send(event.serialized()) }

    /// The server is gone: nothing can be sent any more.
    func abandon() { connection = nil }

    /// Ends the stream in order.
    public func close() {
        guard let connection = connection.take() else { return }
        if isChunked { connection.stream.write(ChunkedBody.end) }
        connection.finish()
    }

    /// The server ends it, whoever holds it.
    func end() {
        guard isOpen else { return }
        close()
        onClosed()
    }

    func keepAlive() { send(ServerSentEvent.keepAlive) }

    private func send(_ bytes: [UInt8]) {
        guard let connection else { return }
        if connection.stream.pendingWriteBytes > Self.maximumUnsentBytes { return connection.close() }
        connection.stream.write(isChunked ? ChunkedBody.chunk(bytes) : bytes)
    }

    func cancel() {
        guard connection.take() != nil else { return }
        onClosed()
    }
}
