import EventLoop
import OpenSSL
public import Sockets
import Wire

/// A TCP stream as a connection sees it.
final class StreamTransport: ConnectionTransport {
    private let stream: TCPStream
    /// For a peer that begins with TLS on the RTMP port.
    private let tls: TLSContext?

    init(_ stream: TCPStream, tls: TLSContext?) { (self.stream, self.tls) = (stream, tls) }

    /// A stream that lingers lives longer than its connection, which it must not call any more.
    deinit { (stream.onBytes, stream.onClosed) = ({ $0.count }, { _ in }) }

    var remoteAddress: SocketAddress { stream.remoteAddress }
    var isTLS: Bool { stream.isTLS }
    var roundTrip: Duration? { stream.roundTrip }
    var pendingWriteByteCount: Int { stream.pendingWriteBytes }
    var carriesMedia: Bool {
        get { stream.carriesMedia }
        set { stream.carriesMedia = newValue }
    }
    func write(_ bytes: [UInt8]) { stream.write(bytes) }
    func pauseReading() { stream.pauseReading() }
    func resumeReading() { stream.resumeReading() }
    func close() { stream.close() }
    func closeAfterFlush(lingering: Duration) { stream.closeAfterFlush(lingering: lingering) }

    func startTLS() -> Bool {
        guard let tls else { return false }
        stream.startTLS(tls)
        return true
    }
}

extension RTMPIngest {
    /// Takes a connection from a listener of plain TCP (RTMPS is told by its first byte), or of TLS.
    public func accept(_ accepted: AcceptedConnection) {
        let stream = TCPStream(loop: loop, accepted: accepted)
        guard let connection = accept(StreamTransport(stream, tls: tls)) else { return }
        // The connection owns its transport, whose end takes these off the stream. A weak reference, asked with every read,
        // would make all counting of the connection's references slow.
        stream.onBytes = { [unowned connection] in connection.receive($0) }
        stream.onClosed = { [unowned connection] _ in connection.transportClosed() }
    }
}
