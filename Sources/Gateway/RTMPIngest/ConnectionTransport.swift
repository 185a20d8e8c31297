import OpenSSL
import Sockets
import Wire

/// The stream under a connection, TCP or TLS; a protocol so that connections can be tested without sockets. Confined.
protocol ConnectionTransport: AnyObject {
    /// The peer; behind a balancer its client, once that is known: what limits count by.
    var remoteAddress: SocketAddress { get set }
    var isTLS: Bool { get }
    /// Smoothed time to the peer and back, as the kernel knows it.
    var roundTrip: Duration? { get }
    /// Bytes written that the peer has not taken.
    var pendingWriteByteCount: Int { get }
    /// Whether what comes in is a live publish's media.
    var carriesMedia: Bool { get set }
    func write(_ bytes: [UInt8])
    func pauseReading()
    func resumeReading()
    /// Begins TLS with the bytes that were not consumed; false when there is no certificate to do it with.
    func startTLS() -> Bool
    /// Closes at once.
    func close()
    /// Sends what waits, then FIN after so long; what still comes in is thrown away.
    func closeAfterFlush(lingering: Duration)
}

/// A TCP stream as a connection sees it.
final class StreamTransport: ConnectionTransport {
    private let stream: TCPStream
    /// For a peer that begins with TLS on the RTMP port.
    private let tls: TLSContext?

    init(_ stream: TCPStream, tls: TLSContext?) { (self.stream, self.tls) = (stream, tls) }

    /// A stream that lingers lives longer than its connection, which it must not call any more.
    deinit { unsafe (stream.onBytes, stream.onClosed) = ({ $0.count }, { _ in }) }

    var remoteAddress: SocketAddress {
        get { stream.remoteAddress }
        set { stream.remoteAddress = newValue }
    }
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
