import Glibc
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

/// In words, for logs and for operators.
extension StreamClosure: CustomStringConvertible {
    public var description: String {
        switch self {
        case .peerFinished: "closed by the other side"
        case .broken(let code): Self.reason(code)
        case .connectFailed(let code): "cannot connect: \(Self.reason(code))"
        case .tlsFailed(let error): "TLS: \(error)"
        case .tlsHandshakeTimedOut: "TLS: the handshake took too long"
        case .tooMuchUnconsumed: "more came than was read"
        case .tooMuchUnsent: "the other side does not read"
        case .flushed: "closed"
        }
    }

    private static func reason(_ code: CInt) -> String { unsafe String(cString: strerror(code)) }
}
