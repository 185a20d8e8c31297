public import OpenSSL

/// Why a TCP stream ended.
public enum StreamClosure: Equatable, Sendable {
    /// The peer closed its end in order.
    case peerFinished
    /// The connection broke; errno (ECONNRESET, ETIMEDOUT, …).
    case broken(CInt)
    case connectFailed(CInt)
    case tlsFailed(OpenSSLError)
    case tlsHandshakeTimedOut
    /// More was left unconsumed than `TCPStream.maximumUnconsumedBytes`.
    case tooMuchUnconsumed
    /// The peer did not take what was written; see `TCPStream.maximumPendingWriteBytes`.
    case tooMuchUnsent
    /// `closeAfterFlush` has done its work, or its time is over.
    case flushed
}
