import Wire

/// The stream under a connection, TCP or TLS; a protocol so that connections can be tested without sockets. Confined.
protocol ConnectionTransport: AnyObject {
    var remoteAddress: SocketAddress { get }
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
