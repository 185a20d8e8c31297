/// Why a handshake failed. A single bad datagram is no error: it is dropped inside.
public enum DTLSError: Error, Equatable, Sendable {
    /// The peer's certificate is not the one its offer named; alert 42 was sent, no key was made.
    case fingerprintMismatch
    /// The peer speaks DTLS but agreed on no SRTP profile of ours.
    case noSRTPProfile
    /// No common cipher or version, a broken message, an alert from the peer, or too many timeouts. OpenSSL's reason number.
    case handshakeFailed(reason: Int)
    /// OpenSSL could not make a key, certificate or context.
    case unavailable
}
