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

    var remoteAddress: SocketAddress { stream.remoteAddress }
    var isTLS: Bool { stream.isTLS }
    var roundTrip: Duration? { stream.roundTrip }
    var pendingWriteByteCount: Int { stream.pendingWriteBytes }
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
        stream.onBytes = { [weak connection] in connection?.receive($0) ?? $0.count }
        stream.onClosed = { [weak connection] _ in connection?.transportClosed() }
    }
}
